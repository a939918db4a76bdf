/** Returns the ids that a text notifies when it is shown as mrkdwn: `<@U…>`, `<!here>`, `<!subteam^S…>`. */
export function pingsIn(text: string): readonly string[] {
  return [...text.matchAll(/<(@[UW][A-Z0-9]+|!(?:here|channel|everyone|subteam\^[A-Z0-9]+))(?:\|[^>]*)?>/g)].map(
    ([, target]) => String(target).replace(/^@/, ''),
  )
}
