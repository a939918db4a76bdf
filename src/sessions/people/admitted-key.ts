/**
 * Returns the event key of a message that waited until its author was let in: it is decided anew and stored once more.
 */
export function admittedKey(eventKey: string): string {
  return `${eventKey}#admitted`
}
