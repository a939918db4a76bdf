import fc from 'fast-check'
import { textContent } from '../../../src/core/content.ts'
import type { SessionEvent } from '../../../src/core/event.ts'
import type { ModelMessage } from '../../../src/core/model.ts'
import type { HistoryBounds } from '../../../src/sessions/view/history-view.ts'
import { taggedText } from '../../../src/sessions/view/user-text.ts'
import { eventLog, userMessage } from '../../fakes/session-events.ts'

/** What may happen in a group; `of` numbers a message. */
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('say' as const), triggers: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('edit' as const, 'delete' as const), of: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('start' as const, 'tool' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('start' as const, 'answered' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('failed' as const, 'cancelled' as const) }) },
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never
export const actions = fc.array(action, { minLength: 1, maxLength: 60, size: 'max' })

interface Said {
  readonly id: string
  readonly triggers: boolean
  readonly edit: boolean
  text: string
  deleted: boolean
}

interface Turn {
  readonly said: readonly Said[]
  readonly steps: ModelMessage[]
  answer?: string
}

/** The log of a group, and what the model is to be shown at its end: told by rote, without any view. */
export class RetoldSession {
  readonly #log = eventLog()
  readonly #everybody: Said[] = []
  readonly #answered: Turn[] = []
  #waiting: Said[] = []
  #running: Turn | undefined
  #no = 0

  constructor(all: readonly Action[]) {
    for (const one of all) this.#tell(one)
  }

  get events(): readonly SessionEvent[] {
    return this.#log.events
  }

  shown({ turns, dropTurns }: HistoryBounds): readonly ModelMessage[] {
    let kept = 0
    for (const _ of this.#answered) kept = kept + 1 === turns + dropTurns ? turns : kept + 1
    const history = this.#answered
      .slice(this.#answered.length - kept)
      .flatMap(({ said, answer = '' }): ModelMessage[] => [
        { role: 'user', content: textContent(textOf(said)) },
        { role: 'assistant', text: answer, calls: [] },
      ])
    if (!this.#running) return history
    const { said, steps } = this.#running
    return [...history, { role: 'user', content: textContent(textOf(said)) }, ...steps]
  }

  #tell(one: Action): void {
    const running = this.#running
    if (one.kind === 'say') this.#say(one.triggers)
    else if (one.kind === 'edit') this.#edit(`m${one.of}`)
    else if (one.kind === 'delete') this.#delete(`m${one.of}`)
    else if (one.kind === 'start' && !running) this.#start()
    else if (one.kind === 'tool' && running) this.#useTool(running)
    else if (one.kind === 'answered' && running) this.#answer(running)
    else if ((one.kind === 'failed' || one.kind === 'cancelled') && running) this.#giveUp(one.kind)
  }

  #say(triggers: boolean): void {
    const id = `m${++this.#no}`
    this.#log.user(id, { messageId: id, triggers })
    this.#wait({ id, text: id, triggers, edit: false, deleted: false })
  }

  #edit(id: string): void {
    const text = `${id}, edit ${++this.#no}`
    this.#log.add({ type: 'message_edited', data: userMessage(text, { messageId: id, triggers: false }) })
    const still = this.#waiting.filter((said) => said.id === id)
    for (const said of still) said.text = text
    if (still.length === 0) this.#wait({ id, text, triggers: false, edit: true, deleted: false })
  }

  #wait(said: Said): void {
    this.#waiting.push(said)
    this.#everybody.push(said)
  }

  #delete(id: string): void {
    this.#log.add({ type: 'message_deleted', data: { messageId: id } })
    this.#waiting = this.#waiting.filter((said) => said.id !== id)
    for (const said of this.#everybody) said.deleted ||= said.id === id
  }

  #start(): void {
    this.#log.started(`t${++this.#no}`)
    this.#running = { said: this.#waiting, steps: [] }
    this.#waiting = []
  }

  #useTool({ steps }: Turn): void {
    const id = `c${++this.#no}`
    this.#log.step('t', id)
    this.#log.result('t', id)
    steps.push(
      { role: 'assistant', text: '', calls: [{ id, name: 'clock', args: {} }] },
      { role: 'tool', results: [{ id, content: textContent(`result ${id}`), isError: false }] },
    )
  }

  #answer(turn: Turn): void {
    this.#running = undefined
    turn.answer = `answer ${++this.#no}`
    this.#answered.push(turn)
    this.#log.answered('t', turn.answer)
  }

  #giveUp(kind: 'failed' | 'cancelled'): void {
    this.#running = undefined
    this.#log[kind]('t')
  }
}

function textOf(all: readonly Said[]): string {
  return all
    .map(({ text, triggers, edit, deleted }) => {
      const said = userMessage(deleted ? '' : text, { triggers })
      return taggedText({ ...said, ...(edit ? { edit } : {}), ...(deleted ? { deleted } : {}) }, 'group')
    })
    .join('\n')
}
