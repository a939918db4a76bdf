import { ParleyError, toError } from '../core/errors.ts'
import type { AsksPeople, QuestionDraft, QuestionOutcome } from '../core/question.ts'
import type { TurnRef } from '../core/session-tools.ts'
import { type AskedField, CANCEL, DECLINE, type Elicitation, EMPTY, readElicitation } from './read-elicitation.ts'
import type { Redact } from './read-tools.ts'

/** The answer to a server, as the protocol has it. */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content: Record<string, string | number | boolean> }
  | { readonly action: 'decline' | 'cancel' }

/** Answers what a server asks while one call of it runs. */
export interface Elicits {
  /** Never rejects. */
  answer(this: void, params: unknown): Promise<ElicitationAnswer>
  /** Notes a question that was not put to anybody. */
  refuse(this: void, why: string): void
  /** The questions that nobody answered, each with the reason, in words for the model. */
  readonly notes: readonly string[]
}

/** Requests of one call that are put to a person; what comes beyond is a storm. */
const MOST_REQUESTS = 3
const ACCEPT = 'Accept'
const CANCELLED: ElicitationAnswer = { action: 'cancel' }
const DECLINED: ElicitationAnswer = { action: 'decline' }

interface ElicitDeps {
  readonly people: AsksPeople
  /** The name of the server, under which its words are shown. */
  readonly server: string
  readonly turn: TurnRef & { readonly callId: string }
  readonly signal: AbortSignal
  /** Default: a text stays as it is. */
  readonly redact?: Redact | undefined
}

type Answered = string | number | boolean | undefined
type Asked = { readonly value: Answered } | { readonly ends: ElicitationAnswer }

/**
 * Returns what puts the questions of one call to whoever its turn answers: one request after the other, one field after
 * the other, each named as the server's and with a way to decline.
 */
export function createElicits({ people, server, turn, signal, redact = (text) => text }: ElicitDeps): Elicits {
  const notes: string[] = []
  let requests = 0
  let parts = 0
  let last: Promise<unknown> = Promise.resolve()

  const note = (why: string): ElicitationAnswer => {
    const words = `[${server} asked a person something, which was cancelled: ${why}]`
    if (!notes.includes(words)) notes.push(words)
    return CANCELLED
  }

  async function put(draft: Omit<QuestionDraft, 'part' | 'server'>): Promise<QuestionOutcome> {
    // A question that has waited behind others may be put after its call has ended.
    if (signal.aborted) throw new ParleyError('aborted', 'the call has ended')
    const shown = { text: redact(draft.text), choices: draft.choices.map(redact) }
    return people.ask({ ...draft, ...shown, server, part: parts++ }, turn, signal)
  }

  async function field({ message }: Elicitation, asked: AskedField): Promise<Asked> {
    const { choices, required, words, free } = asked
    const offered = [...choices.map(({ label }) => label), ...(required ? [] : [EMPTY]), DECLINE, CANCEL]
    const text = [message, `${words}${required ? '' : ' (optional)'}`].filter(Boolean).join('\n\n')
    const outcome = await put({ text, choices: offered, ...(free === undefined ? {} : { free }) })
    return outcome.kind === 'open' ? { ends: note('nobody answered in time') } : answeredValue(asked, offered, outcome)
  }

  async function confirm({ message }: Elicitation): Promise<ElicitationAnswer> {
    const outcome = await put({ text: message, choices: [ACCEPT, DECLINE, CANCEL] })
    if (outcome.kind === 'open') return note('nobody answered in time')
    if (outcome.choice === 0) return { action: 'accept', content: {} }
    return outcome.choice === 1 ? DECLINED : CANCELLED
  }

  async function fill(form: Elicitation): Promise<ElicitationAnswer> {
    if (form.fields.length === 0) return confirm(form)
    const content: [string, string | number | boolean][] = []
    for (const asked of form.fields) {
      const answer = await field(form, asked)
      if ('ends' in answer) return answer.ends
      if (answer.value !== undefined) content.push([asked.name, answer.value])
    }
    return { action: 'accept', content: Object.fromEntries(content) }
  }

  return {
    notes,
    refuse: (why) => void note(why),
    async answer(params) {
      requests++
      if (requests > MOST_REQUESTS) return note(`it has asked more than ${MOST_REQUESTS} times in one call`)
      const form = readElicitation(params)
      if (typeof form === 'string') return note(form)
      const answered = last.then(() => fill(form)).catch((error: unknown) => note(toError(error).message))
      last = answered
      return answered
    },
  }
}

/** Returns the value that an answer stands for: a choice of the server's, one of ours, or words of a person. */
function answeredValue(
  { choices, free }: AskedField,
  offered: readonly string[],
  { text, choice }: Extract<QuestionOutcome, { kind: 'answered' }>,
): Asked {
  if (choice === undefined) return { value: free?.kind === 'text' ? text : Number(text) }
  const chosen = choices[choice]
  if (chosen !== undefined) return { value: chosen.value }
  if (offered[choice] === EMPTY) return { value: undefined }
  return { ends: offered[choice] === DECLINE ? DECLINED : CANCELLED }
}
