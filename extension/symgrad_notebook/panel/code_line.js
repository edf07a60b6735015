// Code to copy: plain text and a button. What is shown is only ever set as text.
function render({ model, el }) {
  el.classList.add("sg-code");
  const head = document.createElement("div");
  head.className = "sg-code-head";
  const title = document.createElement("span");
  title.className = "sg-word";
  const said = document.createElement("span");
  said.className = "sg-said";
  said.setAttribute("role", "status");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sg-copy";
  button.textContent = "Copy";
  const text = document.createElement("pre");
  text.tabIndex = 0;
  head.append(title, said, button);
  el.append(head, text);

  const show = () => {
    const code = model.get("code");
    el.classList.toggle("sg-empty", !code);
    title.textContent = model.get("title");
    text.textContent = code;
    text.setAttribute("aria-label", model.get("title"));
    button.setAttribute("aria-label", `Copy: ${model.get("title")}`);
    said.textContent = "";
  };

  // without a secure page there is no clipboard: the text is selected, and the old command copies it
  const select = () => {
    const range = document.createRange();
    range.selectNodeContents(text);
    const chosen = window.getSelection();
    chosen.removeAllRanges();
    chosen.addRange(range);
    return document.execCommand("copy");
  };

  button.addEventListener("click", async () => {
    let done = false;
    try {
      await navigator.clipboard.writeText(model.get("code"));
      done = true;
    } catch {
      done = select();
    }
    said.textContent = done ? "copied" : "selected: press Ctrl+C";
  });

  model.on("change:code", show);
  model.on("change:title", show);
  show();
  return () => {
    model.off("change:code", show);
    model.off("change:title", show);
  };
}

export default { render };
