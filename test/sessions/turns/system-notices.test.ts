import { expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Decision } from '../../../src/core/dispatch.ts'
import { type InboxId, toAccountId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { createSystemNotices } from '../../../src/sessions/turns/system-notices.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { dispatchOf, group, message, user } from '../../fakes/dispatch.ts'

const INBOX = 'in_1' as InboxId
const said = (id: string, account = 'default') =>
  dispatchOf(message({ address: group('-100', { account: toAccountId(account) }), sender: user(id) }))
const run = (changes: object) =>
  ({ kind: 'run', identity: { role: 'guest' }, trace: [], ...changes }) as unknown as Decision
const STRANGER = run({ public: true })
const MEMBER = run({ identity: { role: 'member' } })

/** What is said of a full queue, as the store's `once` has it. */
async function tell(
  crowded: boolean,
  calls: readonly (readonly [string, Decision, account?: string])[],
): Promise<readonly string[]> {
  const told: string[] = []
  const keys = new Set<string>()
  const once = async (key: string) => keys.size < keys.add(key).size
  const tx = { notices: { once } } as unknown as StoreWriter
  const systemNotices = createSystemNotices({
    clock: systemClock,
    logger: silentLogger,
    access: { unownedLine: () => 'Nobody owns this bot yet.' },
    say: () => expect.unreachable(),
    plan: async (_, { lowPriority }) => void told.push(lowPriority?.supersedes ?? ''),
    admissions: { refused() {} },
    crowded: () => crowded,
  })
  const full = { kind: 'full', inboxId: INBOX } as const
  for (const [id, decision, account] of calls)
    await systemNotices.unanswered(tx, full, { dispatch: said(id, account), decision })
  return told
}

it('whoever is known is told that a queue is full, however much waits for strangers', async () => {
  expect(await tell(true, [['444', MEMBER]])).toEqual(['telegram:444'])
  expect(await tell(true, [['9', STRANGER]])).toEqual([])
})

it('a line to strangers takes the place of none to whoever is known', async () => {
  const calls = [
    ['8', STRANGER],
    ['9', STRANGER],
    ['444', MEMBER],
    ['555', MEMBER],
  ] as const
  expect(await tell(false, calls)).toEqual(['telegram:8', 'telegram:444'])
})

it('a line in a chat with one bot takes the place of none in the chat of the same id with another', async () => {
  const calls = [
    ['444', MEMBER],
    ['444', MEMBER, 'second'],
    ['444', MEMBER, 'second'],
  ] as const
  expect(await tell(false, calls)).toEqual(['telegram:444', 'telegram:444'])
})

const REFUSED = { kind: 'refuse', reason: 'stranger', trace: [] } as unknown as Decision

/** The texts that are said of what was refused in a direct chat, in the commit and after it. */
async function refused(
  event: object,
  { crowded = false, decision = REFUSED, posted = false } = {},
): Promise<readonly string[]> {
  const said: string[] = []
  const systemNotices = createSystemNotices({
    clock: systemClock,
    logger: silentLogger,
    access: { unownedLine: () => 'Nobody owns this bot yet.' },
    say: async ({ text }) => void said.push(`after it: ${text}`),
    plan: async (_, { text }) => void said.push(text),
    admissions: { refused() {} },
    crowded: () => crowded,
  })
  const of = { ...message({ address: group('9', { chatType: 'direct' }), sender: user('9') }), ...event }
  const dispatch = { ...dispatchOf(of as never), ...(posted && { posted: { session: 's' } }) } as never
  const tx = { notices: { once: async () => true } } as unknown as StoreWriter
  await systemNotices.unanswered(tx, { kind: 'done', inboxId: INBOX }, { dispatch, decision })
  systemNotices.done(INBOX, dispatch, decision)
  return said
}

const LINE = 'I only talk to people my owner has let in.'

it('whoever writes to the agent is told of a refusal in its commit, and no bot, reaction or text of a session is', async () => {
  expect(await refused({})).toEqual([LINE])
  expect(await refused({ kind: 'command', name: 'start', args: '' })).toEqual([LINE])
  expect(await refused({ sender: user('9', { kind: 'bot' }) })).toEqual([])
  expect(await refused({ kind: 'reaction' })).toEqual([])
  expect(await refused({}, { posted: true })).toEqual([])
  expect(await refused({}, { crowded: true })).toEqual([])
})

it('a press or a command by the menu is refused each time, unless too many lines wait', async () => {
  const pressed = { kind: 'command', name: 'approve', args: '', answerBy: 'handle' }
  const decision = { kind: 'ignore', reason: 'command_for_owner', trace: [] } as unknown as Decision
  expect(await refused(pressed, { decision })).toEqual(['after it: Only my owner may do that.'])
  expect(await refused(pressed, { decision, crowded: true })).toEqual([])
  const access = { kind: 'refuse', reason: 'access', trace: [] } as unknown as Decision
  expect(await refused(pressed, { decision: access })).toEqual(['after it: Only my owner may do that.'])
  expect(await refused({ ...pressed, answerBy: undefined }, { decision: access })).toEqual([])
})
