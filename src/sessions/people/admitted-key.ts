const ADMITTED = '#admitted'

/**
 * Returns the event key of a message that waited until its author was let in: it is decided anew and stored once more.
 */
export function admittedKey(eventKey: string): string {
  return `${eventKey}${ADMITTED}`
}

/** Returns the event key of the message that waited; undefined for any other message. */
export function waitedKey(eventKey: string): string | undefined {
  return eventKey.endsWith(ADMITTED) ? eventKey.slice(0, -ADMITTED.length) : undefined
}
