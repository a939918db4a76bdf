/**
 * Takes the buttons off the messages that ask about something (`approval:<code>`, `admission:<code>`) and puts a line
 * in their place. Resolves when that is planned, and never rejects; does nothing for messages that are closed.
 */
export type CloseCards = (subject: string, line: string) => Promise<void>
