import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/**
 * Words that are forgotten (decision 0038) may lie in memory: somebody has read them, waits for a model, a hook or a
 * platform, and commits then what is made of them. Every file that opens a transaction stands in one of these lists,
 * so that whoever adds one says what keeps it from bringing back what was forgotten meanwhile.
 */
const SRC = join(import.meta.dirname, '../src')
/** `store` has no words of its own in hand; the command line asks the daemon. */
const APART = /^(?:store|rehearsal|cli)\//
/** A transaction, a message that is planned in one, and a dispatch that is accepted in one. */
const DOORS = /\bwrite\((?:async )?\(?(?:tx\b|\{)|\bsay\(\s*\w|\baccept\((?:\w|\{|\.)/

/** These look again, in the transaction that commits; the words that do it stand in the file. */
const LOOKS_AGAIN: Readonly<Record<string, string>> = {
  'memory/long-term.ts': 'refuseForgotten(tx',
  'memory/run-checkpoint.ts': 'refuseDeleted(tx',
  'pipeline/ask-person.ts': 'tx.forgetting.isForgetting(',
  'pipeline/read-thread.ts': 'isGone(tx',
  'pipeline/record-read.ts': 'hasRemovedSince(',
  'questions/question-service.ts': 'madeOf',
  'schedule/begin-run.ts': 'madeOf',
  'schedule/chat-schedules.ts': 'refuseForgotten(tx',
  'sessions/commands/command-runner.ts': 'isForgotten(tx',
  'sessions/people/admissions.ts': 'admittedKey(',
  'sessions/service/archives.ts': 'checkForgetting(',
  'sessions/service/compaction.ts': 'unchangedSince(tx',
  'sessions/service/keyed-requests.ts': 'hasRemovedSince(',
  'sessions/service/relocate.ts': 'checkForgetting(tx',
  'sessions/session-tools/index-messages.ts': 'hasRemovedSince(',
  'sessions/session-tools/post-message.ts': 'refuseForgotten(tx',
  'sessions/session-tools/run-task.ts': 'refuseForgotten(tx',
  // The acceptance asks about the turn that is named.
  'sessions/session-tools/send-message.ts': 'turn: turn.id',
}

/** What a turn that runs commits goes with it, once it has ended, if it was shown any of the words. */
const GOES_WITH_ITS_TURN: readonly string[] = [
  ...['pipeline/gather-pieces.ts', 'pipeline/join-waiting.ts', 'pipeline/pipeline.ts', 'pipeline/read-files.ts'],
  ...['delivery/growing-message.ts', 'daemon/make-voice.ts', 'sessions/session-tools/send-file.ts'],
]

/** A text of ours that was emptied comes back by no change of its row (`outbox.replace`, `outbox.settle`). */
const CHANGES_TEXTS: readonly string[] = [
  ...['daemon/make-delivery.ts', 'daemon/restoration.ts', 'delivery/decide-part.ts', 'delivery/delivery.ts'],
  ...['delivery/perform.ts', 'delivery/record.ts', 'delivery/recover.ts'],
]

/** These read in the transaction whatever of others they commit, or commit no words but those that they are given. */
const NOTHING_IN_HAND: readonly string[] = [
  ...['approvals/approval-service.ts', 'approvals/desk.ts'],
  ...['budgets/budget-gate.ts', 'channels/account-sinks.ts'],
  ...['channels/adapter.ts', 'daemon/accounts-to-start.ts'],
  ...['daemon/commits-in-time.ts', 'daemon/make-budgets.ts'],
  ...['daemon/make-media.ts', 'daemon/people.ts', 'daemon/stages.ts'],
  ...['daemon/turn-ports.ts', 'delivery/plan-rows.ts', 'hooks/receive-call.ts'],
  ...['http/chat-stream.ts', 'mcp/login/redirects.ts'],
  ...['memory/checkpoint-runs.ts', 'memory/checkpoints.ts'],
  ...['memory/operate-memory.ts', 'questions/question-desk.ts'],
  ...['schedule/change-schedule.ts', 'schedule/claim-slots.ts'],
  ...['schedule/owed-runs.ts', 'schedule/scheduler.ts'],
  ...['schedule/sync-schedules.ts', 'sessions/commands/memory.ts'],
  ...['sessions/commands/new.ts', 'sessions/commands/resume.ts'],
  ...['sessions/commands/setting-commands.ts', 'sessions/commands/stop.ts'],
  ...['sessions/commands/title.ts', 'sessions/commands/undo.ts'],
  ...['sessions/forgetting/forgetting.ts', 'sessions/forgetting/retention.ts'],
  ...['sessions/forgetting/said.ts', 'sessions/lookups/chat-moves.ts'],
  ...['sessions/lookups/mutes.ts', 'sessions/people/access.ts'],
  ...['sessions/people/links.ts', 'sessions/people/owner-cards.ts'],
  ...['sessions/people/tokens.ts', 'sessions/service/delete-session.ts'],
  ...['sessions/service/import-bundle.ts', 'sessions/service/import-sessions.ts'],
  ...['sessions/service/post-text.ts', 'sessions/service/session-service.ts'],
  ...['sessions/service/start-session.ts', 'sessions/turns/hold-old-state.ts'],
  ...['sessions/turns/recover-turns.ts', 'sessions/turns/stop-session.ts'],
  ...['sessions/turns/suspects.ts', 'sessions/turns/system-notices.ts'],
]

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !APART.test(file),
)
const textOf = (file: string): string => readFileSync(join(SRC, file), 'utf8')

it('S41: of every file that commits something it is said what keeps forgotten words out of it', () => {
  const known = [...Object.keys(LOOKS_AGAIN), ...GOES_WITH_ITS_TURN, ...CHANGES_TEXTS, ...NOTHING_IN_HAND]
  expect(new Set(known).size).toBe(known.length)
  expect(files.filter((file) => DOORS.test(textOf(file))).sort()).toEqual(known.toSorted())
})

it.each(Object.entries(LOOKS_AGAIN))('S41: %s looks again in its transaction', (file, words) => {
  expect(textOf(file)).toContain(words)
})
