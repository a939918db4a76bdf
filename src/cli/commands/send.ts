import { EXIT, errorCode, ParleyError } from '../../core/errors.ts'
import type { PostAnswer } from '../../core/operate-sessions.ts'
import { askOperator } from '../ask-operator.ts'
import { byTitle } from '../named-session.ts'
import { plain } from '../print/plain.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

export interface SendOptions extends ReadOptions {
  readonly text: string
  readonly deliver?: boolean
  readonly answer: boolean
  /** `name=value` pairs for the prompt of a session that begins. */
  readonly context?: readonly string[]
  /** The model that shall answer. */
  readonly model?: string
  /** The wait in seconds. */
  readonly wait: number
}

/**
 * Prints the answer. Resolves with 1 if the message was refused or failed; an answer that is still on its way is no
 * failure.
 */
export async function send(ports: ReadPorts, name: string, options: SendOptions): Promise<number> {
  const { text, answer: answered, deliver = false, model, wait: waitSeconds } = options
  const context = variablesOf(options.context)
  const request = {
    text,
    deliver,
    waitSeconds,
    ...(answered ? {} : { answer: false }),
    ...(context ? { context } : {}),
    ...(model === undefined ? {} : { model }),
  }
  const loaded = await ports.load(options.config, 'ask')
  const answer = await askOperator(ports, loaded, ({ sessions }) =>
    byTitle(sessions, name, (one) => sessions.post(one, request).catch(withOwn(one))),
  )
  if (answer.status === 'error' && !options.json) ports.stderr.write(`${plain(answer.error)}\n`)
  show(ports, options, { value: answer, lines: () => linesOf(answer) })
  return answer.status === 'error' ? EXIT.failed : EXIT.ok
}

/** Returns the handler that adds the full name of a conversation of one's own to an error about a bare one. */
function withOwn(name: string): (err: unknown) => never {
  return (err) => {
    if (errorCode(err) !== 'not_found' || !/^[a-z0-9][a-z0-9-]*$/.test(name)) throw err
    throw new ParleyError('not_found', `There is no session ${name}; "cli:${name}" begins a conversation of your own.`)
  }
}

/** Returns the variables that `--context` names, each as `name=value`. Throws `invalid`. */
export function variablesOf(pairs: readonly string[] | undefined): Readonly<Record<string, string>> | undefined {
  return pairs && Object.fromEntries(pairs.map(pairOf))
}

function pairOf(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new ParleyError('invalid', '--context takes name=value.')
  return [text.slice(0, at), text.slice(at + 1)]
}

function linesOf(answer: PostAnswer): readonly string[] {
  switch (answer.status) {
    case 'ok':
      return [answer.reply === '' ? 'The agent chose to say nothing.' : plain(answer.reply)]
    case 'stored':
      return [`On record in ${answer.session} (${answer.traceId}).`]
    case 'accepted':
      return [`Sent; the answer will be in ${answer.session} (${answer.traceId}).`]
    case 'timeout':
      return [`No answer yet; it will be in ${answer.session} (${answer.traceId}).`]
    case 'error':
      return []
  }
}
