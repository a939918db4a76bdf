import { copiedTurnId, type InboxId, isInboxId, type PersonId, type SessionId, type TurnId } from '../../core/ids.ts'
import type { MemoryEntry } from '../../core/memory.ts'
import type { AuthorId } from '../../core/platform-id.ts'
import { callKey, requestOf, type Schedule } from '../../core/schedule.ts'
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
  readonly #sent = new Map<InboxId, { readonly by: TurnId; readonly messageId: string; readonly row: Received }>()
  /** Those who have written messages that go. */
  readonly #writers = new Set<PersonId>()
  /** The commands that go. */
  readonly #commands = new Set<InboxId>()
  readonly #names = new Map<string, string>()
  /** The texts of memories and reminders that go. */
  readonly #listed = new Set<string>()

  list(text: string): void {
    this.#listed.add(text)
  }

  /** Notes what applicants who go are called: cards about them name them by it, beside their ids. */
  async nameApplicants({ admissions }: Pick<ForgetReader, 'admissions'>, keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const { name } = (await admissions.find(key)) ?? { name: '' }
      if (name !== '') this.#names.set(key, name)
    }
  }

  /** Returns whether a text shows a memory or a reminder that goes, as answers to commands do, or names an applicant. */
  isShownIn({ source, sessionId, text }: Pick<SentRow, 'source' | 'sessionId' | 'text'>): boolean {
    if (isInboxId(source) && [...this.#listed].some((one) => text.includes(one))) return true
    return sessionId === undefined && [...this.#names].some(([key, name]) => text.includes(key) && text.includes(name))
  }

  /** Takes a message that goes. */
  note({ decision: { identity }, dispatch: { event } }: ReceivedRow, { id, author }: Received): void {
    if (identity.person !== undefined) this.#writers.add(identity.person)
    if (event.kind !== 'command') return
    this.#commands.add(id)
    const [, code] = /^(\S+)/.exec(event.args.trim()) ?? []
    if (event.name === 'title') this.titles.add(typedTitle(event.args))
    if (event.name === 'answer' && code !== undefined) this.#answers.set(code.toLowerCase(), author)
    const [, no, text = ''] = /^correct\s+#?(\d{1,15})\s+(.*)$/is.exec(event.args.trim()) ?? []
    if (event.name === 'memory' && no !== undefined) this.#corrected.set(Number(no), text.trim())
  }

  /** Takes a message that does not go by itself. */
  noteSent({ id, dispatch: { origin, posted, event } }: ReceivedRow, row: () => Received): void {
    if (origin !== 'tool' || posted?.turn === undefined || event.kind !== 'message') return
    this.#sent.set(id, { by: posted.turn, messageId: event.messageId, row: row() })
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

  /** Returns the messages that began tasks for turns that go; what answers them goes with them. */
  tasksOf(turns: ReadonlyMap<TurnId, number>, scans: Scans): ReadonlyMap<InboxId, Received> {
    const found = new Map<InboxId, Received>()
    for (const [id, { by, messageId, row }] of this.#sent) {
      const scan = row.sessionId === undefined ? undefined : scans.get(row.sessionId)
      if (scan?.session.source.kind !== 'task' || !turns.has(by)) continue
      scan.tasks.add(messageId)
      if (row.turnId !== undefined) scan.turns.set(row.turnId, row.at)
      found.set(id, row)
    }
    return found
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
  async reminders(
    { schedules }: Pick<ForgetReader, 'schedules'>,
    { scans, turns }: Going,
  ): Promise<readonly Schedule[]> {
    const calls = scans.flatMap((scan) => [...scan.calls]).filter(([turn]) => turns.has(turn))
    const requests = new Set(
      [...this.#commands, ...calls.map(([turn, callId]) => callKey(turn, callId))].map(requestOf),
    )
    const isTheirs = ({ creator, definition: { request } }: Schedule): boolean =>
      creator !== undefined && this.#writers.has(creator) && request !== undefined && requests.has(request)
    return requests.size === 0 ? [] : (await schedules.all()).filter(isTheirs)
  }
}
