import fc from 'fast-check'
import { textContent } from '../../../src/core/content.ts'
import type { SessionEvent } from '../../../src/core/event.ts'
import type { InboxId, TurnId } from '../../../src/core/ids.ts'
import type { ModelMessage } from '../../../src/core/model.ts'
import type { HistoryBounds } from '../../../src/sessions/view/history-view.ts'
import { SUMMARY_LABEL } from '../../../src/sessions/view/summary-view.ts'
import { taggedText } from '../../../src/sessions/view/user-text.ts'
import { eventLog, userMessage } from '../../fakes/session-events.ts'

/** What may happen in a group; `of` numbers a message. */
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('say' as const), triggers: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('edit' as const, 'delete' as const), of: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('start' as const, 'tool' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('start' as const, 'answered' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('summary' as const), keep: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('failed' as const, 'cancelled' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('unasked' as const, 'thread' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('undo' as const) }) },
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never
export const actions = fc.array(action, { minLength: 1, maxLength: 60, size: 'max' })

interface Said {
  readonly id: string
  triggers: boolean
  readonly edit: boolean
  text: string
  deleted: boolean
}

interface Turn {
  readonly name: string
  said: readonly Said[]
  readonly steps: ModelMessage[]
  answer?: string
  /** The number of the event that ended it. */
  end?: number
}

interface Summary {
  readonly text: string
  readonly folds: readonly Turn[]
  readonly older: Summary | undefined
}

/** The log of a group, and what the model is to be shown at its end: told by rote, without any view. */
export class RetoldSession {
  readonly #log = eventLog()
  readonly #everybody: Said[] = []
  #answered: Turn[] = []
  #summary: Summary | undefined
  #waiting: Said[] = []
  #running: Turn | undefined
  #no = 0

  readonly #bounds: HistoryBounds

  constructor(all: readonly Action[], bounds: HistoryBounds) {
    this.#bounds = bounds
    for (const one of all) this.#tell(one)
  }

  get events(): readonly SessionEvent[] {
    return this.#log.events
  }

  shown(): readonly ModelMessage[] {
    const { pair, answered } = { pair: this.#summary, answered: this.#answered }
    const history = answered.flatMap(({ said, answer = '' }): ModelMessage[] => [
      { role: 'user', content: textContent(textOf(said)) },
      { role: 'assistant', text: answer, calls: [] },
    ])
    const before: ModelMessage[] =
      pair === undefined
        ? history
        : [
            { role: 'user', content: textContent(SUMMARY_LABEL) },
            { role: 'assistant', text: pair.text, calls: [] },
            ...history,
          ]
    if (!this.#running) return before
    const { said, steps } = this.#running
    return [...before, { role: 'user', content: textContent(textOf(said)) }, ...steps]
  }

  #tell(one: Action): void {
    const running = this.#running
    if (one.kind === 'say') this.#say(one.triggers)
    else if (one.kind === 'edit') this.#edit(this.#named(one.of))
    else if (one.kind === 'delete') this.#delete(this.#named(one.of))
    else if (one.kind === 'summary') this.#sumUp(one.keep)
    else if (!running) this.#tellIdle(one.kind)
    else if (one.kind === 'tool') this.#useTool(running)
    else if (one.kind === 'answered') this.#answer(running)
    else if (one.kind === 'unasked' || one.kind === 'thread') this.#tellBefore(one.kind)
    else if (one.kind === 'failed' || one.kind === 'cancelled') this.#giveUp(one.kind)
  }

  #tellIdle(kind: Action['kind']): void {
    if (kind === 'start') this.#start()
    else if (kind === 'undo') this.#takeBack()
  }

  /** The last turn is in no summary: what others said stays, and no edit of what was asked does. */
  #takeBack(): void {
    const turn = this.#answered.pop()
    if (!turn) return
    const asked = turn.said.filter(({ triggers }) => triggers).map(({ id }) => id)
    const data = {
      turn: turn.name as TurnId,
      messages: asked.map((messageId) => ({ messageId })),
      command: 'in_1' as InboxId,
    }
    this.#log.add({ type: 'exchange_taken_back', data })
    const left = turn.said.filter(({ triggers, deleted }) => !triggers && !deleted)
    this.#waiting = [...left, ...this.#waiting.filter(({ id }) => !asked.includes(id))]
  }

  /** Returns the id of a message that was said; any other is older than the log. */
  #named(of: number): string {
    const id = `m${of}`
    return this.#everybody.some((said) => said.id === id) ? id : `old${of}`
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

  /** Lets a summary stand for all turns but the newest. */
  #sumUp(keep: number): void {
    const folds = this.#answered.slice(0, this.#answered.length - keep)
    const end = folds.at(-1)?.end
    if (end === undefined) return
    const text = `summary ${++this.#no}`
    this.#log.compacted(text, { turns: folds.length, back: this.events.length + 1 - end })
    this.#answered = this.#answered.slice(folds.length)
    this.#summary = { text, folds, older: this.#summary }
  }

  /** A summary may have the words of a message that is in no turn that is shown. */
  #unfold(id: string): void {
    const summary = this.#summary
    const itself = (said: Said): boolean => said.id === id && !said.edit
    const names = (turn: Turn): boolean => turn.said.some(itself)
    if (!summary || this.#waiting.some(itself)) return
    if ([...this.#answered, ...(this.#running ? [this.#running] : [])].some(names)) return
    this.#answered = [...summary.folds, ...this.#answered]
    const { older } = summary
    this.#summary = older && summary.folds.some(names) ? { ...older, folds: [], older: undefined } : undefined
  }

  #delete(id: string): void {
    this.#log.add({ type: 'message_deleted', data: { messageId: id } })
    this.#unfold(id)
    this.#waiting = this.#waiting.filter((said) => said.id !== id)
    for (const said of this.#everybody) said.deleted ||= said.id === id
  }

  #start(): void {
    const name = `t${++this.#no}`
    this.#log.started(name)
    this.#running = { name, said: this.#waiting, steps: [] }
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
    this.#log.answered('t', turn.answer)
    turn.end = this.events.length
    this.#answered.push(turn)
    if (this.#answered.length >= this.#bounds.turns + this.#bounds.dropTurns)
      this.#answered = this.#answered.slice(-this.#bounds.turns)
  }

  #tellBefore(kind: 'unasked' | 'thread'): void {
    if (this.#running?.steps.length !== 0) return
    if (kind === 'unasked') this.#putBack(this.#running)
    else this.#readThread(this.#running)
  }

  /** The agent was not asked: what was said is context of the next turn. */
  #putBack({ said }: Turn): void {
    this.#running = undefined
    this.#log.unasked('t')
    for (const one of said) one.triggers = false
    this.#waiting = [...said.filter(({ deleted }) => !deleted), ...this.#waiting]
  }

  /** Something was said before the session knew of it. */
  #readThread(turn: Turn): void {
    const id = `m${++this.#no}`
    this.#log.threadRead('t', [userMessage(id, { messageId: id, triggers: false })])
    const said: Said = { id, text: id, triggers: false, edit: false, deleted: false }
    this.#everybody.push(said)
    turn.said = [said, ...turn.said]
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
