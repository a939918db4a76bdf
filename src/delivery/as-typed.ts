import type { OutboundMessage } from '../core/outbound.ts'

/**
 * Returns a message with the commands that it names as they are typed there: some platforms keep the slash for
 * themselves. Only words of Parley's own name commands in code; those of a model stay as they are, and so does whatever
 * stands in a block, such as the arguments of a call.
 */
export function asTyped(message: OutboundMessage, mark: string | undefined): OutboundMessage {
  if (mark === undefined || (message.class !== 'control' && message.class !== 'notice')) return message
  const pieces = message.text.split(FENCE)
  const text = pieces.map((piece, at) => (at % 2 === 0 ? piece.replace(COMMAND, `$1${mark}`) : piece)).join(FENCE)
  return { ...message, text }
}

const FENCE = '```'
/** Matches up to the slash of a command; a path has another slash where a command ends. */
const COMMAND = /(`)\/(?=[a-z]+[ `])/g
