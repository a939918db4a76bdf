/**
 * Returns the event key under which a message is stored once more, in the session of the thread whose history it was
 * read with: where it was said first, it has a row in the session of the channel.
 */
export function inThreadKey(eventKey: string): string {
  return `${eventKey}#thread`
}
