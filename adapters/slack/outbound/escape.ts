/**
 * Escapes the platform's special characters in any text. Every bracket of ours is written after this, so nothing a
 * model says can become a mention: `<!channel>` arrives as words (F-I10).
 */
export function escapeText(text: string): string {
  if (!/[&<>]/.test(text)) return text
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** UTF-16 units of a text once it is escaped. */
export function escapedLength(text: string): number {
  let length = text.length
  for (const char of text.match(/[&<>]/g) ?? []) length += char === '&' ? 4 : 3
  return length
}

/** An address as it stands between the brackets of a link. */
export function escapeUrl(url: string): string {
  return url
    .replaceAll('&', '&amp;')
    .replaceAll('<', '%3C')
    .replaceAll('>', '%3E')
    .replaceAll('|', '%7C')
    .replace(/\s/g, '%20')
}

/** Takes the meaning from every mention in a text that is mrkdwn already; links keep theirs. */
export function withoutMentions(mrkdwn: string): string {
  return mrkdwn.replace(/<(?=[!@#])/g, '&lt;')
}
