import { foldText } from '../../core/fold-text.ts'
import {
  copiedTurnId,
  type InboxId,
  isInboxId,
  type PersonId,
  type ScheduleId,
  type SessionId,
  type TurnId,
} from '../../core/ids.ts'
import type { MemoryEntry } from '../../core/memory.ts'
import type { AuthorId } from '../../core/platform-id.ts'
import { callKey, idOfRequest, requestOf, type Schedule } from '../../core/schedule.ts'
import { typedTitle } from '../../core/titles.ts'
import type { ReceivedRow, SentRow } from '../../store/forget-port.ts'
import type { ForgetReader } from './forget-reader.ts'
import type { Received } from './matches.ts'
import type { SessionScan } from './scan-session.ts'

type Scans = ReadonlyMap<SessionId, SessionScan>

/** The logs that are read, and the turns and messages in them that go. */
export interface Going {
  readonly scans: readonly SessionScan[]
  readonly turns: ReadonlyMap<TurnId, number>
}

/** A message that the agent or a reminder gave to a session. */
interface Given {
  readonly messageId: string
  readonly row: Received
}

/**
 * Finds by ids what a command or a call has made of words that go: it has other words, or too few to be known as a
 * repetition.
 */
export class MadeByCalls {
  /** Titles that were given with the commands that go. */
  readonly titles = new Set<string>()
  /** The authors of answers to questions, by the code of each. */
  readonly #answers = new Map<string, AuthorId>()
  /** The texts to which memories were corrected, by their numbers. */
  readonly #corrected = new Map<number, string>()
  /** Messages from one session to another, and the turns that sent them. */
  readonly #sent = new Map<InboxId, Given & { readonly by: TurnId }>()
  /** The runs of reminders, and who has made these. */
  readonly #runs = new Map<InboxId, Given & { readonly of: ScheduleId; readonly maker: PersonId | undefined }>()
  /** Those who have written messages that go. */
  readonly #writers = new Set<PersonId>()
  /** The requests for reminders by commands that go. */
  readonly #requests = new Set<string>()
  readonly #names = new Map<string, string>()
  /** The memories that go, by their numbers, and the reminders, also those that are over. */
  readonly #entries = new Map<number, string>()
  readonly #reminders = new Set<string>()

  listEntry({ no, text }: Pick<MemoryEntry, 'no' | 'text'>): void {
    this.#entries.set(no, text)
  }

  listReminder(id: ScheduleId): void {
    this.#reminders.add(id)
  }

  /** Notes what applicants who go are called: cards about them name them by it, beside their ids. */
  async nameApplicants({ admissions }: Pick<ForgetReader, 'admissions'>, keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const { name } = (await admissions.find(key)) ?? { name: '' }
      if (name !== '') this.#names.set(key, name)
    }
  }

  /**
   * Returns whether a text shows a memory or a reminder that goes, as answers to commands do, by its number or id: a
   * few letters of it stand in any text. Or whether it names an applicant.
   */
  isShownIn({ source, sessionId, text }: Pick<SentRow, 'source' | 'sessionId' | 'text'>): boolean {
    if (isInboxId(source) && this.lists(text)) return true
    return sessionId === undefined && [...this.#names].some(([key, name]) => namesId(text, key) && text.includes(name))
  }

  /** Returns whether a text lists one of them, as answers to commands and results of tools do. */
  lists(text: string): boolean {
    return this.#showsReminder(text) || this.#showsEntry(text)
  }

  #showsReminder(text: string): boolean {
    if (this.#reminders.size === 0) return false
    const ids = [...text.matchAll(/remind cancel (\w+)|"id":"(\w+)"/g)]
    return ids.some(([, typed, shown = '']) => this.#reminders.has(typed ?? shown))
  }

  #showsEntry(text: string): boolean {
    if (this.#entries.size === 0) return false
    return [...text.matchAll(/(?:#|"number":)(\d{1,15})(?: |,"text":")/g)].some(({ 0: mark, 1: no, index }) => {
      const entry = this.#entries.get(Number(no))
      const line = text.slice(index + mark.length, index + mark.length + LINE)
      return entry !== undefined && beginning(line).startsWith(beginning(entry.slice(0, LINE)))
    })
  }

  /** Takes a message that goes. */
  note({ decision: { identity }, dispatch: { event } }: ReceivedRow, { id, author }: Received): void {
    if (identity.person !== undefined) this.#writers.add(identity.person)
    if (event.kind !== 'command') return
    if (event.name === 'remind') this.#requests.add(requestOf(id))
    if (event.name === 'remind') this.listReminder(idOfRequest(requestOf(id)))
    const [, code] = /^(\S+)/.exec(event.args.trim()) ?? []
    if (event.name === 'title') this.titles.add(typedTitle(event.args))
    if (event.name === 'answer' && code !== undefined) this.#answers.set(code.toLowerCase(), author)
    const [, no, text = ''] = /^correct\s+#?(\d{1,15})\s+(.*)$/is.exec(event.args.trim()) ?? []
    if (event.name === 'memory' && no !== undefined) this.#corrected.set(Number(no), text.trim())
  }

  /** Takes a message that does not go by itself. */
  noteSent({ id, dispatch: { origin, posted, schedule, event } }: ReceivedRow, row: () => Received): void {
    if (event.kind !== 'message') return
    const { messageId } = event
    if (schedule !== undefined)
      this.#runs.set(id, { of: schedule.id, maker: schedule.creator.person, messageId, row: row() })
    else if (origin === 'tool' && posted?.turn !== undefined)
      this.#sent.set(id, { by: posted.turn, messageId, row: row() })
  }

  /** A turn that has asked somebody was shown the answer, as if it had joined that turn. */
  async addAnswered({ questions }: Pick<ForgetReader, 'questions'>, scans: Scans): Promise<void> {
    for (const [code, author] of this.#answers) {
      const question = await questions.get(code)
      if (question?.by?.author !== author) continue
      const { sessionId, turnId, askedAt } = question
      scans.get(sessionId)?.turns.set(turnId, askedAt)
      // A copy of the log has the turn under an id of its own.
      for (const [copy, scan] of scans) if (copy !== sessionId) scan.copied.add(copiedTurnId(turnId, copy))
    }
  }

  /**
   * Returns the messages that began tasks for turns that go, and those of reminders that go, also of one that is over
   * and has no row any more; what answers them goes with them.
   */
  tasksOf(turns: ReadonlyMap<TurnId, number>, scans: Scans): ReadonlyMap<InboxId, Received> {
    const found = new Map<InboxId, Received>()
    const take = (id: InboxId, { messageId, row }: Given, scan: SessionScan | undefined): void => {
      found.set(id, row)
      scan?.tasks.add(messageId)
      if (row.turnId !== undefined) scan?.turns.set(row.turnId, row.at)
    }
    const scanOf = ({ row: { sessionId } }: Given) => (sessionId === undefined ? undefined : scans.get(sessionId))
    for (const [id, one] of this.#sent)
      if (scanOf(one)?.session.source.kind === 'task' && turns.has(one.by)) take(id, one, scanOf(one))
    const ids = new Set([...this.#requestsOf({ scans: [...scans.values()], turns })].map((one) => idOfRequest(one)))
    for (const [id, one] of this.#runs) {
      if (one.maker === undefined || !this.#writers.has(one.maker) || !ids.has(one.of)) continue
      this.listReminder(one.of)
      take(id, one, scanOf(one))
    }
    return found
  }

  /** Returns the requests for reminders that go, whoever they are for. */
  #requestsOf({ scans, turns }: Going): ReadonlySet<string> {
    const calls = scans.flatMap((scan) => [...scan.calls]).filter(([turn]) => turns.has(turn))
    return new Set([...this.#requests, ...calls.map(([turn, callId]) => requestOf(callKey(turn, callId)))])
  }

  /** Returns the memories that still have the words of a correction. */
  async corrected({ memory }: Pick<ForgetReader, 'memory'>): Promise<readonly MemoryEntry[]> {
    const entries = await Promise.all([...this.#corrected.keys()].map((no) => memory.get(no)))
    return entries.flatMap((entry) =>
      entry !== undefined && entry.text === this.#corrected.get(entry.no) ? entry : [],
    )
  }

  /**
   * Returns the reminders that commands and turns that go have made for those who wrote what goes. What such a turn has
   * made for somebody else is theirs.
   */
  async reminders({ schedules }: Pick<ForgetReader, 'schedules'>, going: Going): Promise<readonly Schedule[]> {
    const requests = this.#requestsOf(going)
    const isTheirs = ({ creator, definition: { request } }: Schedule): boolean =>
      creator !== undefined && this.#writers.has(creator) && request !== undefined && requests.has(request)
    return requests.size === 0 ? [] : (await schedules.all()).filter(isTheirs)
  }
}

/** Returns whether a text names an id, which may be the beginning of another one. */
function namesId(text: string, id: string): boolean {
  for (let at = text.indexOf(id); at >= 0; at = text.indexOf(id, at + 1))
    if (!/^[\p{L}\p{N}]/u.test(text.slice(at + id.length))) return true
  return false
}

/** The first letters of a memory, by which a line that begins with its number is known to show it. */
const BEGINNING = 12
/** More than those letters, however it is spelled. */
const LINE = 100

function beginning(text: string): string {
  return foldText(text)
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .slice(0, BEGINNING)
}
