import { type Model, type ModelRequest, NO_USAGE } from '../../core/model.ts'
import { untagged } from './untagged.ts'

/** Answers `echo <newest user text>` at once; for trying Parley out without a key. */
export const echoModel: Model = {
  id: 'scripted/echo',
  async *stream({ messages }: ModelRequest) {
    const asked = messages.findLast((message) => message.role === 'user')
    yield { type: 'text', delta: `echo ${untagged(asked?.text ?? '')}` }
    yield { type: 'end', stop: 'end', usage: NO_USAGE, model: 'scripted/echo' }
  },
}
