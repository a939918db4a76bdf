import type { ChatType } from '../../core/address.ts'
import { type Content, textContent } from '../../core/content.ts'
import type { SaidSource } from './history-view.ts'
import type { ReceivedMessage } from './received.ts'
import { filesOf, taggedText } from './user-text.ts'

/** The messages of the running turn, and the notes before them. */
interface AskedNow {
  readonly received: readonly ReceivedMessage[]
  readonly notes: readonly string[]
}

/** The data of a scheduled prompt belongs to its own turn only: later turns are not shown it. */
export function promptOf({ received, notes }: AskedNow, chat: ChatType): Content {
  let prompt = wordsOf({ received, before: notes }, chat)
  for (const { data } of received) if (data !== undefined) prompt += `\n\n${data}`
  return [...textContent(prompt), ...filesOf(received)]
}

/** Returns a user's words and files as the model is shown them. */
export function shown(source: SaidSource, chat: ChatType): Content {
  const { received = NONE } = source
  return [...textContent(wordsOf(source, chat)), ...filesOf(received)]
}

function wordsOf({ received = NONE, before = NONE, note }: SaidSource, chat: ChatType): string {
  const lines = [...before]
  if (received.some(({ source }) => source === undefined)) lines.push(joined(received, chat))
  if (note !== undefined) lines.push(note)
  return lines.join('\n')
}

/** A reference to another log has no words before these are read (`withChannelWords`). */
function joined(received: readonly ReceivedMessage[], chat: ChatType): string {
  return received.flatMap((message) => (message.source === undefined ? taggedText(message, chat) : [])).join('\n')
}

const NONE: readonly never[] = []
