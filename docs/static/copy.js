// A button on every block of code. Of commands and Python sessions it copies what is typed, without prompts and output.
const PROMPTS = { console: [/^\$ /, /^> /], pycon: [/^>>> ?/, /^\.\.\. ?/] };

function typed(block, text) {
  const kind = Object.keys(PROMPTS).find((name) => block.classList.contains(`highlight-${name}`));
  if (!kind) return text;
  const lines = text.split("\n").flatMap((line) => {
    const prompt = PROMPTS[kind].find((one) => one.test(line));
    return prompt ? [line.replace(prompt, "")] : [];
  });
  return lines.join("\n");
}

document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll("div[class*=highlight-]")) {
    const code = block.querySelector("pre");
    if (!code) continue;
    const text = typed(block, code.textContent.trimEnd());
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    block.append(button);
  }
});
