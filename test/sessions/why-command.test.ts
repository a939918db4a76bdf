import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { InboundMessage, Sender } from '../../src/core/message.ts'
import { createWhy } from '../../src/daemon/why.ts'
import { describeRow } from '../../src/sessions/commands/describe-row.ts'
import { whyCommand } from '../../src/sessions/commands/why.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { InboxRow } from '../../src/store/inbox-port.ts'
import type { Store } from '../../src/store/store.ts'
import { CHANNELS } from '../fakes/channels.ts'
import { commandCall } from '../fakes/command-call.ts'
import { dispatchOf, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { ids } from '../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

let store: Store

beforeEach(async () => {
  store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
})

type Where = Pick<InboundMessage, 'address'>

/** What `/why` tells one stranger in reply to a message of another; of the last message if nothing is quoted. */
async function why(
  where: Where,
  author: Sender,
  asker: Sender,
  { now, quoted }: { now: Where; quoted?: { messageId: string } | undefined } = {
    now: where,
    quoted: { messageId: 'm1' },
  },
): Promise<string | null> {
  const dispatch = dispatchOf(message({ ...where, sender: author }))
  const { decision: asked, dispatch: asking } = commandCall('why', '', { ...now, sender: asker })
  const { identity, trace } = asked
  const decision = { kind: 'ignore', reason: 'empty', identity, trace } as const
  const row = { id: ids.inbox(), dispatch, decision, state: 'done', outcome: 'ignored: empty' } as const
  await store.write((tx) => tx.inbox.add(row))
  const event = { ...asking.event, quoted } as typeof asking.event
  const call = { inboxId: ids.inbox(), dispatch: { ...asking, event }, decision: asked, args: '' }
  return whyCommand({
    ...{ store, channels: CHANNELS, unseen: async () => [], readLink: () => null, zoneOf: () => 'UTC' },
  }).run(call)
}

describe('/why of people we do not know', () => {
  const slack = { address: slackChannel() }

  it('tells them of their own message', async () => {
    const [one, same] = [user('U9', { team: 'T02' }), user('U9', { team: 'T02' })]
    expect(await why(slack, one, same)).toMatch(/^Ignored: /)
  })

  it('F-H04: an equal id of another workspace is told nothing', async () => {
    expect(await why(slack, user('U9', { team: 'T02' }), user('U9', { team: 'T03' }))).toBeNull()
  })

  it('F-C07: in a group that got a new id the last message may be one of before', async () => {
    const [before, now] = [group(), { ...group(), chat: '-1009' }]
    await store.write((tx) => tx.chatMoves.add({ channel: before.channel, from: before.chat, to: now.chat }, 1))
    const last = { now: { address: now }, quoted: undefined }
    expect(await why({ address: before }, user('9'), user('9'), last)).toMatch(/^Ignored: /)
  })

  it('who writes under an id that many share is told nothing', async () => {
    const anonymous: Sender = { id: '-100', kind: 'anonymous' }
    expect(await why({ address: group() }, anonymous, anonymous)).toBeNull()
  })
})

describe('the sender of a message', () => {
  it.each([
    ['an app that has the name of its account alone', { kind: 'bot', username: 'grafana' }, 'grafana'],
    ['a person without a name for all', { username: 'dee' }, 'dee'],
    ['somebody without any name', {}, undefined],
  ] as const)('is called as in the labels of prompts: %s', async (_, named, name) => {
    const { displayName: _name, ...sender } = user('1576504841138601984', named)
    const { identity, trace } = commandCall('why', '').decision
    const decision = { kind: 'ignore', reason: 'bot', identity, trace } as const
    const row = { dispatch: dispatchOf(message({ sender })), decision, state: 'done', outcome: 'ignored: bot' } as const
    const id = ids.inbox()
    await store.write((tx) => tx.inbox.add({ id, ...row }))
    const service = createWhy({ read: store.read, lookups: {}, channels: () => [] })
    const [report] = await service.why(id)
    expect(report?.sender).toEqual({ id: sender.id, ...(name && { name }) })
    const [line] = describeRow({ id, ...row } as InboxRow, { denied: [], settings: false })
    expect(line).toContain(name ? `from ${name} (${sender.id}) in ` : `from ${sender.id} in `)
  })
})
