(function () {
  "use strict";
  var field = document.getElementById("search");
  var items = Array.prototype.slice.call(document.querySelectorAll("nav li"));
  var none = document.getElementById("none");
  if (!field) return;
  document.getElementById("find").hidden = false;
  function matching() {
    var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    return items.filter(function (item) {
      var text = item.getAttribute("data-words");
      var found = words.every(function (word) { return text.indexOf(word) >= 0; });
      item.hidden = !found;
      return found;
    });
  }
  field.addEventListener("input", function () { none.hidden = matching().length > 0; });
  field.addEventListener("keydown", function (event) {
    var found = matching();
    if (event.key === "Enter" && found.length) { event.preventDefault(); found[0].querySelector("a").click(); }
    if (event.key === "Escape") { field.value = ""; none.hidden = matching().length > 0; }
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
  });
})();
