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
/** A message that is planned in a transaction, and a dispatch that is accepted in one. */
const PLANNED = /\bsay\(\s*\w|\baccept\((?:\w|\{|\.)/g
/** A transaction, whatever is done in it, where the store is at hand; else one by the name of what it is given. */
const ANY = /\bwrite\(/g
const GIVEN = /\bwrite\(\s*(?:async\s*)?\(?(?:tx\b|\{)/g
const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/.*$/gm
/** It writes the page of the metrics. */
const NO_TRANSACTION = 'daemon/make-health.ts'

/** These look again, in the transaction that commits; the words that do it stand in the file, in no comment. */
const LOOKS_AGAIN: Readonly<Record<string, string>> = {
  'memory/long-term.ts': 'refuseForgotten(tx',
  'memory/run-checkpoint.ts': 'refuseDeleted(tx',
  'pipeline/ask-person.ts': 'tx.forgetting.isForgetting(',
  'pipeline/read-channel.ts': 'hasRemovedSince(',
  'pipeline/read-thread.ts': 'isGone(tx',
  'pipeline/record-read.ts': 'hasRemovedSince(',
  'questions/question-service.ts': 'madeOf',
  'schedule/begin-run.ts': 'madeOf',
  'schedule/chat-schedules.ts': 'refuseForgotten(tx',
  'sessions/commands/command-runner.ts': 'isForgotten(tx',
  // The acceptance knows by this key which message waited, and asks about that.
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
  'sessions/turns/ask-again.ts': 'resumable(tx',
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
  ...['approvals/approval-service.ts', 'approvals/desk.ts', 'backup/forget-again.ts'],
  ...['budgets/budget-gate.ts', 'channels/account-sinks.ts'],
  ...['channels/adapter.ts', 'daemon/accounts-to-start.ts'],
  ...['daemon/commits-in-time.ts', 'daemon/tell-of-budgets.ts'],
  ...['daemon/make-media.ts', 'daemon/people.ts', 'daemon/spent-beside.ts', 'daemon/stages.ts'],
  'daemon/watch-host.ts',
  ...['daemon/turn-ports.ts', 'delivery/plan-rows.ts', 'hooks/receive-call.ts'],
  ...['http/chat-stream.ts', 'mcp/login/redirects.ts'],
  ...['memory/checkpoint-runs.ts', 'memory/checkpoints.ts'],
  ...['memory/operate-memory.ts', 'questions/question-desk.ts'],
  ...['schedule/change-schedule.ts', 'schedule/claim-slots.ts'],
  ...['schedule/owed-runs.ts', 'schedule/scheduler.ts'],
  ...['schedule/sync-schedules.ts', 'sessions/commands/memory.ts'],
  ...['sessions/commands/forget.ts', 'sessions/commands/new.ts', 'sessions/commands/resume.ts'],
  ...['sessions/commands/setting-commands.ts', 'sessions/commands/stop.ts'],
  ...['sessions/commands/title.ts', 'sessions/commands/undo.ts'],
  ...['sessions/forgetting/forgetting.ts', 'sessions/forgetting/retention.ts'],
  ...['sessions/forgetting/said.ts', 'sessions/lookups/chat-moves.ts'],
  ...['sessions/lookups/mutes.ts', 'sessions/people/access.ts'],
  ...['sessions/people/links.ts', 'sessions/people/owner-cards.ts'],
  ...['sessions/people/tokens.ts', 'sessions/service/delete-session.ts'],
  ...['sessions/service/import-bundle.ts', 'sessions/service/import-sessions.ts'],
  ...['sessions/service/age-out.ts', 'sessions/service/change-session.ts', 'sessions/service/post-text.ts'],
  'sessions/service/notify.ts',
  ...['sessions/service/session-service.ts', 'sessions/service/start-session.ts'],
  ...['sessions/session-tools/start-external-run.ts', 'sessions/turns/hold-old-state.ts'],
  ...['sessions/turns/recover-turns.ts', 'sessions/turns/stop-session.ts'],
  ...['sessions/turns/suspects.ts', 'sessions/turns/system-notices.ts'],
]

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !APART.test(file),
)
const textOf = (file: string): string => readFileSync(join(SRC, file), 'utf8').replace(COMMENTS, '')

/** Returns how many places of a file commit something. */
function doorsOf(file: string): number {
  const text = textOf(file)
  const writes = /\bStore\b/.test(text) && file !== NO_TRANSACTION ? ANY : GIVEN
  return [PLANNED, writes].reduce((sum, form) => sum + [...text.matchAll(form)].length, 0)
}

it('S41: of every file that commits something it is said what keeps forgotten words out of it', () => {
  const known = [...Object.keys(LOOKS_AGAIN), ...GOES_WITH_ITS_TURN, ...CHANGES_TEXTS, ...NOTHING_IN_HAND]
  expect(new Set(known).size).toBe(known.length)
  expect(files.filter((file) => doorsOf(file) > 0).sort()).toEqual(known.toSorted())
})

it.each([
  ['look again', Object.keys(LOOKS_AGAIN), 48],
  ['go with their turn', GOES_WITH_ITS_TURN, 10],
  ['change texts', CHANGES_TEXTS, 14],
  ['have nothing in hand', NOTHING_IN_HAND, 124],
] as const)('S41: a further place that commits, in files that %s, belongs there as well', (_what, list, places) => {
  expect(list.map(doorsOf).reduce((sum, doors) => sum + doors, 0)).toBe(places)
})

it.each(Object.entries(LOOKS_AGAIN))('S41: %s looks again in its transaction', (file, words) => {
  expect(textOf(file)).toContain(words)
})
