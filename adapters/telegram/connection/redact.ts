/** A shorter secret occurs in any text, and redacting it would reveal it. */
const SHORTEST = 4

/**
 * Error texts of the client carry the request's URL, and the URL carries the token. telegraf masks it in network errors
 * but not in those of an unreadable answer, so every text is redacted here, by value.
 */
export function redactToken(text: string, token: string): string {
  const forms = new Set([token, encodeURIComponent(token), encodeURI(token)])
  let clean = text
  for (const form of forms) if (form.length >= SHORTEST) clean = clean.replaceAll(form, '[token]')
  return clean
}
