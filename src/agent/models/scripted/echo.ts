import { textOf } from '../../../core/content.ts'
import { type Model, type ModelEvent, NO_USAGE } from '../../../core/model.ts'

const ID = 'scripted/echo'
const END: ModelEvent = { type: 'end', stop: 'end', usage: NO_USAGE, model: ID }

/** Answers `echo <newest user text>` at once; for trying Parley out without a key. */
export const echoModel: Model = {
  id: ID,
  async *stream({ messages }) {
    const asked = messages.findLast((message) => message.role === 'user')
    yield { type: 'text', delta: `echo ${untagged(textOf(asked?.content ?? []))}` }
    yield END
  },
}

const TIME_LINE = /^\[time: [^\]\n]*\]\n/
const TAGS = /^(?:\[[^\]\n]*\] )+/
const NEXT_TAGGED_LINE = /\n(?=\[[^\]\n]*\] )/

/**
 * Returns the newest message as its author wrote it, without the line with the time: of a group prompt the last tagged
 * line and what follows it, without the `[Name]` and `[not directed at you]` tags; any other text as it is.
 */
export function untagged(shown: string): string {
  const text = shown.replace(TIME_LINE, '')
  const newest = TAGS.test(text) ? (text.split(NEXT_TAGGED_LINE).at(-1) ?? text) : text
  return newest.replace(TAGS, '')
}
