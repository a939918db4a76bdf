import { textOf } from '../../../core/content.ts'
import { type Model, type ModelEvent, NO_USAGE } from '../../../core/model.ts'
import { untagged } from './untagged.ts'

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
