const pieceLength = 12

/** Cuts a text into the pieces in which it is streamed where a script does not say how. */
export function pieces(text: string): string[] {
  const cut: string[] = []
  for (let at = 0; at < text.length; at += pieceLength) cut.push(text.slice(at, at + pieceLength))
  return cut
}

/** Returns a message of a user without the line with the time that it begins with. */
export function withoutTime(text: string): string {
  return text.replace(/^\[time: [^\]\n]*\]\n/, '')
}
