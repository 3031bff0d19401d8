// Forms that a passkey answers: it is created or used when the form is submitted, and its answer is sent with the form.
for (const form of document.querySelectorAll("form[data-passkey]")) {
  const options = JSON.parse(form.dataset.passkey);
  const button = form.querySelector("button");
  const fault = form.querySelector('[role="alert"]');
  const answer = () =>
    options.rp
      ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });

  function say(words) {
    fault.textContent = words;
    fault.hidden = !words;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    say("");
    button.disabled = true;
    try {
      form.elements.response.value = JSON.stringify(await answer());
      form.submit();
    } catch (error) {
      button.disabled = false;
      say(error.name === "InvalidStateError" ? "This device already has a passkey here." : "No passkey was used. Try again.");
    }
  });
  button.disabled = !window.PublicKeyCredential?.parseRequestOptionsFromJSON;
  say(button.disabled ? "This browser does not support passkeys." : "");
}
