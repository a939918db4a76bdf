import { codesOf } from '../title-codes.ts'
import type { FaultCase } from './fault-case.ts'
import { ABUSE } from './register-abuse.ts'

const CRASHES: readonly FaultCase[] = [
  { code: 'F-A01', what: 'Killed with a message received and not stored: the platform gives it again, one answer.' },
  { code: 'F-A02', what: 'Killed with a message stored and not acknowledged: the repeat is known, one turn.' },
  { code: 'F-A03', what: 'Killed with a message acknowledged or claimed: the turn goes on with no new input.' },
  { code: 'F-A04', what: 'Killed while an answer is shown as it grows: one final message.' },
  { code: 'F-A05', what: 'Killed with the answer of the model not stored: one final message.' },
  { code: 'F-A06', what: 'Killed before a tool runs: it runs exactly once.' },
  { code: 'F-A07', what: 'Killed while a tool runs that must not run twice: it never does, and the model is told.' },
  { code: 'F-A08', what: 'Killed among five calls side by side: no later request is refused for its pairs.' },
  { code: 'F-A09', what: 'Killed before a planned message leaves: exactly one message.' },
  { code: 'F-A10', what: 'Killed behind a send on Discord, started again at once: exactly one message.' },
  {
    code: 'F-A11',
    what: 'Killed behind a send on Discord, started again after 15 minutes: found in the history.',
    waitsFor: 'a clock of the daemon process that a test can move: the key of a send outlives a short test',
  },
  { code: 'F-A12', what: 'Killed behind a send on Slack with history: exactly one message.' },
  { code: 'F-A13', what: 'Killed behind a send on Slack without history: a reply at most twice and marked.' },
  {
    code: 'F-A14',
    what: 'Killed behind a send on Telegram: a reply at most twice and marked, an effect at most once.',
  },
  { code: 'F-A15', what: 'Killed between the messages of a long answer: none missing, order kept.' },
  { code: 'F-A16', what: 'A message that crashes the process each time is set aside, and others are answered.' },
  {
    code: 'F-A17',
    what: 'A poisonous delivery, schedule and compaction at once: each is set aside on its own.',
    waitsFor: 'compaction; a delivery that cannot be read is set aside already (src/delivery)',
  },
  { code: 'F-A18', what: 'Killed at any time under traffic: none lost, none answered twice.' },
  {
    code: 'F-A19',
    what: 'Power cut: what was acknowledged is there after the next start.',
    waitsFor: 'a file system in the tests that loses writes which were not synced',
  },
  { code: 'F-A20', what: 'SIGTERM with 20 turns under way: drained within 25 s, the rest goes on later.' },
  { code: 'F-A21', what: 'SIGTERM and SIGKILL a second later, again and again: as F-A18.' },
  { code: 'F-A22', what: 'Sessions left running with queues behind them: none stays so, order is kept.' },
  { code: 'F-A23', what: 'A second daemon on the same state: it ends with its own code and harms nothing.' },
  { code: 'F-A25', what: 'Killed in a step of the schema: the next start goes on or back, and there is a copy.' },
]

const NETWORK: readonly FaultCase[] = [
  { code: 'F-B01', what: 'A poll is taken and never answered: a new one on a new connection within 45 s.' },
  { code: 'F-B02', what: 'A hundred resets in mid poll: nothing lost, no sockets left.' },
  {
    code: 'F-B03',
    what: 'Ten minutes without name resolution: receiving within 30 s of its return.',
    waitsFor: 'a name server in the tests; refused connections are F-B15',
  },
  { code: 'F-B04', what: 'A stray poller: named, and receiving within 30 s of its end.' },
  { code: 'F-B06', what: 'An unreadable answer to a send: unknown, no blind repeat.' },
  { code: 'F-B07', what: 'An answer that trickles: cut at the deadline.' },
  { code: 'F-B08', what: 'Latency and loss: nothing lost, repeats only as promised.' },
  { code: 'F-B09', what: 'An unacknowledged heartbeat: connected anew within two intervals.' },
  { code: 'F-B10', what: 'Forty messages missed over seven conversations: each handled once, in order.' },
  { code: 'F-B11', what: 'A resumed session that silently lacks three events: found within 60 s.' },
  { code: 'F-B12', what: 'Five thousand missed in one channel: a cap, others are not starved, and it is said.' },
  { code: 'F-B13', what: 'A close that is for good: that channel is down with the remedy, others run.' },
  { code: 'F-B14', what: 'A socket that is to be refreshed: replaced before it ends.' },
  { code: 'F-B15', what: 'Hours of refused connections: back within 60 s.' },
  { code: 'F-B16', what: 'A socket closes between commit and acknowledgement: the repeat is known.' },
  { code: 'F-B18', what: 'One event on two sockets: one turn.' },
  { code: 'F-B19', what: 'Too many sockets, or a refused app token: a slow retry, or down with the remedy.' },
  { code: 'F-B20', what: 'A model that stalls: one retry, one answer.' },
  { code: 'F-B21', what: 'A model that is overloaded for 20 minutes: one notice a session, and it recovers.' },
]

const ANSWERS: readonly FaultCase[] = [
  { code: 'F-C01', what: 'Markup that is refused: the same words as plain text, once.' },
  { code: 'F-C02', what: 'Too long, empty, or a bad reference: mended, once.' },
  { code: 'F-C03', what: 'Blocked, kicked or gone: for good, not tried after a restart.' },
  { code: 'F-C04', what: 'Told to wait: that chat waits and no other.' },
  {
    code: 'F-C06',
    what: 'A topic of a group that is gone: nothing falls back into the chat, and whoever waits reads so.',
  },
  { code: 'F-C07', what: 'A group gets a new id: all that is its own moves in one commit.' },
  { code: 'F-C08', what: 'An edit that changes nothing: a success.' },
  { code: 'F-C09', what: 'A refused token: that channel is down, others run.' },
  { code: 'F-C10', what: 'What Discord refuses for good: permanent, with the reason.' },
  { code: 'F-C11', what: 'Rate limits of Discord: kept, and a breaker before the ban.' },
  { code: 'F-C12', what: 'What Slack refuses for good: permanent, with the reason.' },
  { code: 'F-C13', what: 'Slack asks to wait: it waits, one message.' },
  { code: 'F-C15', what: 'Errors of the model: one sensible message each.' },
]

const LOAD: readonly FaultCase[] = [
  {
    code: 'F-D01',
    what: 'A thousand sessions, 200 messages a second: the loop stays free, all is stored.',
    waitsFor: 'a figure and not a test: npm run bench sessions',
  },
  { code: 'F-D02', what: 'Five hundred messages in one chat within ten seconds: bounded, other chats unaffected.' },
  { code: 'F-D03', what: 'Clients of the event stream that stop reading: dropped.' },
  { code: 'F-D04', what: 'Many replies to one group: at the pace of the platform, in order.' },
  {
    code: 'F-D05',
    what: 'A day of mixed faults: memory and handles stay flat.',
    waitsFor: 'a day: npm run soak -- --minutes 1440',
  },
  { code: 'F-D06', what: 'Huge outputs and histories: cut by rule, visibly.' },
  { code: 'F-D07', what: 'An event loop blocked for 5 s: no false alarm, no turn twice.' },
  {
    code: 'F-D08',
    what: 'A start with 100,000 sessions: ready within 5 s.',
    waitsFor: 'a figure and not a test: npm run bench start',
  },
  {
    code: 'F-D09',
    what: 'Three workers on one store, one killed: another takes over.',
    waitsFor: 'a store for several daemons',
  },
  { code: 'F-D11', what: 'Bots that answer each other: stopped within 20 turns, and at the budget.' },
]

const DISK: readonly FaultCase[] = [
  { code: 'F-F01', what: 'A full disk: nothing is acknowledged that is not stored, and nothing lost later.' },
  {
    code: 'F-F02',
    what: 'A full disk in a checkpoint, a migration, or for the log alone.',
    waitsFor: 'a disk in the tests that is full for one file alone',
  },
  { code: 'F-F03', what: 'A sync that fails: the process ends, nothing is acknowledged after it.' },
  { code: 'F-F04', what: 'A reader that stays open: the log of writes is bounded.', waitsFor: 'export' },
  { code: 'F-F05', what: 'A foreign lock: waited for with a free loop.' },
  { code: 'F-F06', what: 'A damaged file: refused at the start.' },
  { code: 'F-F07', what: 'A copy under load, and back: consistent.', waitsFor: 'a backup command' },
  { code: 'F-F08', what: "Yesterday's copy with live platforms: nothing is answered anew." },
  { code: 'F-F09', what: 'A state folder of the wrong owner or mode: refused with 78 and the reason.' },
]

const MALFORMED: readonly FaultCase[] = [
  { code: 'F-G01', what: 'Mutated updates: no crash, each stored or counted.' },
  { code: 'F-G02', what: 'Odd characters and cut UTF-8: whole text, no torn characters.' },
  { code: 'F-G03', what: 'Huge bodies: refused before they are read.' },
  { code: 'F-G04', what: 'Ids beyond 2^53: exact.' },
  { code: 'F-G05', what: 'Update ids far lower than before: processed.' },
  { code: 'F-G06', what: 'Any document in each renderer: accepted by the platform, nothing lost at the seams.' },
  { code: 'F-G07', what: 'Hostile attachments: refused by rule.' },
  { code: 'F-G08', what: 'Altered buttons: refused, no effect.' },
  { code: 'F-G09', what: 'Names such as __proto__ in payloads and configuration: no prototype changes.' },
  { code: 'F-G10', what: 'Messages of unknown kind: ignored and counted.' },
]

/** Every fault case, with its tests or with why it has none yet. */
export const REGISTER: readonly FaultCase[] = [
  ...CRASHES,
  ...NETWORK,
  ...ANSWERS,
  ...LOAD,
  ...DISK,
  ...MALFORMED,
  ...ABUSE,
]

/** Tells whether a test proves a case; `titles` are its own and those of the groups it is in. */
export function proves(titles: readonly string[], { code }: FaultCase): boolean {
  return titles.some((title) => codesOf(title).includes(code))
}
