// Puts the page of a row together.
drawHeader();
new RowTable(document.getElementById("comparison"));
const methodCards = data.methods.map(rowMethodCard);
document.getElementById("methods").append(...methodCards);
document.getElementById("methods").before(document.getElementById("comparison"));
document.getElementById("footer").append(
    "Made by Whyformer. This page is complete in itself: it loads nothing and sends nothing.");
