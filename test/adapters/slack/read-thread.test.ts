import { expect, it } from 'vitest'
import type { SlackClient } from '../../../adapters/slack/connection/client.ts'
import { readThread } from '../../../adapters/slack/inbound/read-thread.ts'
import { parseAddress } from '../../../src/core/address.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import { deferred } from '../../../src/rehearsal/deferred.ts'
import { openRig } from './rig.ts'

const place = { address: parseAddress('slack:channel:C1/100.000001'), before: '100.000009', most: 3 }
const message = (ts: string) => ({ ts, text: `at ${ts}`, user: 'U1' })

/** A platform that answers with these pages, the last of them for ever. */
function platform(...pages: readonly object[]) {
  const asked: unknown[] = []
  const client: Pick<SlackClient, 'call'> = {
    async call(_method: string, args: object) {
      asked.push(args)
      return { kind: 'answered', result: pages[asked.length - 1] ?? pages.at(-1) ?? {} } as never
    },
  }
  return { client: client as SlackClient, asked, signal: new AbortController().signal }
}

const textsOf = (events: readonly InboundEvent[]) => events.map((event) => ('text' in event ? event.text : ''))
const said = async (body: Readonly<Record<string, unknown>>) => body.event as InboundEvent

it('gives the root and the newest messages in their order, each once, however the platform lists them', async () => {
  const page = { messages: ['100.000004', '100.000002', '100.000003', '100.000005', '100.000002'].map(message) }
  const read = await readThread({ ...platform(page), read: said }, place)
  expect(read).toMatchObject({ kind: 'read', left: true })
  if (read.kind === 'read') expect(textsOf(read.events)).toEqual(['at 100.000002', 'at 100.000004', 'at 100.000005'])
})

it('shows what came before a page that is refused', async () => {
  const page = { messages: [message('100.000002')], has_more: true, response_metadata: { next_cursor: 'more' } }
  const { client, signal } = platform(page)
  let calls = 0
  const call: SlackClient['call'] = (...args) =>
    ++calls === 1 ? client.call(...args) : Promise.resolve({ kind: 'refused', error: 'ratelimited' })
  const read = await readThread({ client: { ...client, call }, signal, read: said }, place)
  expect(read).toMatchObject({ kind: 'read', left: true, events: [{ text: 'at 100.000002' }] })
})

it('ends with a platform that has always one page more', async () => {
  const page = { messages: [message('100.000002')], has_more: true, response_metadata: { next_cursor: 'again' } }
  const { asked, ...ports } = platform(page)
  expect(await readThread({ ...ports, read: said }, place)).toMatchObject({ kind: 'read', left: true })
  expect(asked).toHaveLength(10)
})

it.each([{}, { messages: null }, { messages: [null, 5, { text: 'no stamp' }] }])(
  'reads nothing in %o',
  async (page) => {
    expect(await readThread({ ...platform(page), read: said }, place)).toEqual({
      kind: 'read',
      events: [],
      left: false,
    })
  },
)

it('asks side by side who wrote the messages', async () => {
  const all = deferred<void>()
  let asking = 0
  const read = async (body: Readonly<Record<string, unknown>>) => {
    if (++asking === 3) all.resolve()
    await all.promise
    return said(body)
  }
  const page = { messages: ['100.000002', '100.000003', '100.000004'].map(message) }
  expect(await readThread({ ...platform(page), read }, place)).toMatchObject({ kind: 'read' })
})

it('F-H04: whoever names no workspace is none of ours once an event has said that others are in the channel', async () => {
  const rig = await openRig()
  try {
    const { world, app } = rig.server
    const ada = world.addUser({ id: 'U333', name: 'ada' })
    const { id: channel } = world.addChannel({ name: 'workshop', members: [ada] })
    await rig.listen()
    const { ts } = world.say({ from: ada, channel, text: 'root', extra: { team: undefined } })
    await rig.sink.committed(1)
    const asked = { address: parseAddress(`slack:channel:${channel}/${ts}`), before: '9999999999.000001', most: 3 }
    const teams = async () => {
      const read = await rig.adapter.readThread(asked, rig.signal)
      return read.kind === 'read' ? read.events.map((event) => event.sender.team) : read
    }
    expect(await teams()).toEqual([app.teamId])
    const event = {
      ...{ type: 'message', channel, channel_type: 'channel' },
      user: 'U333',
      text: 'more',
      ts: '9999999999.000002',
    }
    world.rawBody({ event, is_ext_shared_channel: true })
    await rig.sink.committed(2)
    expect(await teams()).toEqual([undefined])
  } finally {
    await rig.close()
  }
})
