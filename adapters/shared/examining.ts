import { type AccountSettings, ChannelDown } from '../../src/channels/adapter.ts'
import type { Examination, ExamineRequest, SetupPlace } from '../../src/channels/setup.ts'
import type { Clock } from '../../src/core/clock.ts'
import { type Finding, findingsOf } from '../../src/core/finding.ts'
import { publicUrl } from '../../src/core/wire-error.ts'
import { linkedAbort } from './deadline.ts'

/** One call of an examination; the seam's 30 s are enough for a few of them one after the other. */
export const CALL_MS = 10_000
/** The whole examination; the seam's 30 s, less the time to end what is under way. */
const WHOLE_MS = 28_000
/** Conversations whose rights are asked about: each is a call, and a platform counts them. */
const MOST_PLACES = 40
const AT_ONCE = 4

/** Collects the findings about one account. */
export class FindingsBook {
  readonly all: Finding[] = []
  readonly #of: ReturnType<typeof findingsOf>

  constructor(part: string) {
    this.#of = findingsOf(part)
  }

  ok(check: string, says: string): void {
    this.all.push(this.#of.ok(check, says))
  }

  warning(check: string, says: string, remedy: string): void {
    this.all.push(this.#of.warning(check, says, remedy))
  }

  failed(check: string, says: string, remedy: string): void {
    this.all.push(this.#of.failed(check, says, remedy))
  }

  skipped(check: string, says: string): void {
    this.all.push(this.#of.skipped(check, says))
  }

  of(check: string, { state, says, remedy = '' }: PlaceTrouble): void {
    if (state === 'skipped') this.skipped(check, says)
    else this[state](check, says, remedy)
  }
}

/** The findings of an examination under way, and the signal that ends its calls. */
export interface Look {
  readonly findings: FindingsBook
  readonly signal: AbortSignal
}

/** An account while it is examined. */
export interface Examined<Client, Config> extends Look {
  readonly client: Client
  readonly config: Config
  readonly clock: Clock
  readonly request: ExamineRequest
}

interface ToExamine<Client, Config> {
  readonly channel: string
  readonly settings: AccountSettings<Config>
  readonly request: ExamineRequest
  /** It is closed at the end. */
  readonly client: Client
}

type Seen = Omit<Examination, 'findings'>

/** Runs an examination within its time; whatever it throws is a finding. */
export async function examined<Client extends { close(): void }, Config>(
  { channel, settings, request, client }: ToExamine<Client, Config>,
  look: (asked: Examined<Client, Config>) => Promise<Seen>,
): Promise<Examination> {
  const { account, config, services } = settings
  const { clock } = services
  const findings = new FindingsBook(account === 'default' ? channel : `${channel}/${account}`)
  const abort = linkedAbort(request.signal)
  let isLate = false
  const cancel = clock.after(WHOLE_MS, () => {
    isLate = true
    abort.abort()
  })
  let seen: Seen = {}
  try {
    seen = await look({ findings, signal: abort.signal, client, config, clock, request })
  } catch (error) {
    const why = error instanceof ChannelDown ? error.message : 'the examination broke off inside'
    findings.failed('examination', why, 'run `parley doctor` again; the log has more')
  } finally {
    cancel()
    abort.abort()
    client.close()
  }
  if (isLate) findings.skipped('time', `not everything was asked: it took longer than ${WHOLE_MS / 1000} s`)
  return { ...seen, findings: findings.all }
}

/** Something that is wrong with one conversation, or keeps it from being examined. */
export interface PlaceTrouble {
  readonly state: 'warning' | 'failed' | 'skipped'
  readonly says: string
  readonly remedy?: string
}

interface Places {
  readonly places: readonly SetupPlace[]
  /** Returns what is wrong in a conversation; undefined: nothing. Called with one of each chat, not with its topics. */
  lookAt(place: SetupPlace): Promise<PlaceTrouble | undefined>
  /** Says that nothing is wrong in so many conversations. */
  fine(count: number): string
}

/** Asks about each conversation with several people, a few at once, and says how many were left out. */
export async function lookAtRights({ findings, signal }: Look, { places, lookAt, fine }: Places): Promise<void> {
  const chats = new Map<string, SetupPlace>()
  for (const place of places) {
    const { chat, chatType, topic } = place.address
    if (chatType !== 'direct' && (topic === undefined || !chats.has(chat))) chats.set(chat, place)
  }
  const asked = [...chats.values()].slice(0, MOST_PLACES)
  const queue = asked.values()
  let isFine = true
  const worker = async (): Promise<void> => {
    for (const place of queue) {
      const trouble = signal.aborted ? undefined : await lookAt(place)
      if (trouble === undefined) continue
      isFine = false
      findings.of('rights', { ...trouble, says: `${nameOf(place)}: ${trouble.says}` })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  if (asked.length > 0 && isFine && !signal.aborted) findings.ok('rights', fine(asked.length))
  if (asked.length < chats.size)
    findings.skipped('rights', `${chats.size - asked.length} more conversations were not asked about`)
}

/** The name of a conversation in a finding: its title where there is one, and its id. */
function nameOf({ address, title }: SetupPlace): string {
  return title === undefined ? address.chat : `"${title}" (${address.chat})`
}

/** Returns how to find out whether a server is reached from this machine, as something to type. */
export function reachRemedy(publicRoot: string, apiRoot: string | undefined): string {
  const root = apiRoot ?? publicRoot
  const asked = `curl -sS -m 10 ${new URL(root).protocol}//${publicUrl(root)}`
  const where = apiRoot === undefined ? 'behind a proxy set HTTPS_PROXY' : 'see that apiRoot is its address'
  return `\`${asked}\` shows whether it is reached from here; ${where}`
}

/** Returns what is wrong with a text that can be a secret of no platform; undefined for any other. */
export function mistakeOfAny(text: string): string | undefined {
  if (text === '') return 'is empty'
  if (/^(["'`]).*\1$/s.test(text)) return 'has quotation marks around it: leave them out'
  if (/^\$\{|^<.*>$/.test(text)) return 'is a reference or a placeholder: enter the secret itself'
  if (/^[A-Z][A-Z0-9_]*=/.test(text)) return 'begins with the name of a variable: enter only what follows the ='
  if (/\s/.test(text)) return 'has a space or a line break in it: copy it alone, in one piece'
  if (/[^\x21-\x7e]/.test(text)) return 'has a character that no secret has: copy it again'
  return undefined
}

const KINDS: readonly (readonly [form: RegExp, kind: string])[] = [
  [/^xoxb-/, 'the bot token of a Slack app'],
  [/^xapp-/, 'the app-level token of a Slack app'],
  [/^xox[a-z](\.xox[a-z])?-/, 'a Slack token that is not of a bot'],
  [/^\d+:[\w-]+$/, 'the token of a Telegram bot'],
  [/^[\w-]{18,}\.[\w-]{4,}\.[\w-]{20,}$/, 'the token of a Discord bot'],
  [/^sk-/, 'the key of a model'],
]

/** Returns the kind of secret that a text is by its form; undefined where it has the form of none. */
export function kindOfSecret(text: string): string | undefined {
  return KINDS.find(([form]) => form.test(text))?.[1]
}
