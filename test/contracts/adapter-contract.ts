import { afterEach, describe, expect, test } from 'vitest'
import type { ChannelAdapter, OutboundPart, RenderedPart, TextFormat } from '../../src/channels/adapter.ts'
import type { Address } from '../../src/core/address.ts'
import { formatAddress, parseAddress } from '../../src/core/address.ts'
import { RecordingSink } from './recording-sink.ts'

/** A place a person can write in and the bot can answer in. */
export interface Place {
  readonly name: string
  readonly address: Address
}

/** How the platform treats the next send. */
export type SendFate = 'unreachable' | 'refused' | 'refused_for_now' | 'answer_lost'

interface Delivered {
  readonly address: Address
  readonly text: string
}

/**
 * One platform and one bot on it, as the contract needs them. The platform is a server the adapter's real client talks
 * to; `delivered` and `acknowledged` are that server's own record, never the adapter's word.
 */
export interface AdapterRig {
  readonly format: TextFormat
  /** At least a direct chat and a group; a topic or thread where the platform has them. */
  readonly places: readonly [Place, ...Place[]]
  /** A new adapter for the same bot. */
  createAdapter(): ChannelAdapter
  /** A person writes to the bot, so that it must be handed over; returns the platform's message id. */
  say(place: Place, text: string): string
  /** The platform hands the bot a message of its own. */
  echo(place: Place, text: string): void
  /**
   * Resolves once the platform counts the message as received by the bot. Where a platform keeps no such count, it is the
   * position that the sink has committed.
   */
  acknowledged(messageId: string, sink: RecordingSink): Promise<void>
  isAcknowledged(messageId: string, sink: RecordingSink): boolean
  /** Resolves once the bot is connected and waits for news. */
  listening(): Promise<void>
  fate(fate: SendFate): void | Promise<void>
  /** What the bot has in the chats now. */
  delivered(): readonly Delivered[]
  close(): Promise<void>
}

/** Every delivery has a key of its own: 25 characters. */
let keys = 0
const nextKey = () => `key${String(++keys).padStart(22, '0')}`

/** What every channel adapter keeps to. Called once by each platform with its rig. */
export function adapterContract(name: string, openRig: () => Promise<AdapterRig>): void {
  describe(`${name} keeps the adapter contract`, () => {
    const cleanups: (() => Promise<void>)[] = []
    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    const open = async (): Promise<AdapterRig> => {
      const rig = await openRig()
      cleanups.push(() => rig.close())
      return rig
    }
    const start = async (rig: AdapterRig, sink = new RecordingSink()) => {
      const adapter = rig.createAdapter()
      cleanups.push(() => adapter.stop())
      await adapter.start(sink, new AbortController().signal)
      await rig.listening()
      return { adapter, sink }
    }
    const part = (place: Place, rendered: RenderedPart): OutboundPart => ({
      address: place.address,
      rendered,
      key: nextKey(),
    })
    const send = (adapter: ChannelAdapter, place: Place, rendered: RenderedPart) =>
      adapter.send(part(place, rendered), new AbortController().signal)
    const words = (text: string): RenderedPart => ({ text, plain: text, markup: 'plain' })

    test('K10: a message has the address of its place, and the address survives as text', async () => {
      const rig = await open()
      const { sink } = await start(rig)
      for (const [index, place] of rig.places.entries()) {
        rig.say(place, `hello from ${place.name}`)
        const event = (await sink.committed(index + 1))[index]

        expect(event).toMatchObject({ kind: 'message', text: `hello from ${place.name}`, address: place.address })
        expect(parseAddress(formatAddress(place.address))).toEqual({ ...place.address, space: undefined })
      }
    })

    test('an answer to an address arrives in its place and nowhere else', async () => {
      const rig = await open()
      const { adapter } = await start(rig)
      for (const place of rig.places) {
        const receipt = await send(adapter, place, words(`to ${place.name}`))
        expect(receipt).toMatchObject({ kind: 'sent', messageId: expect.any(String) })
      }

      expect(rig.delivered()).toEqual(rig.places.map(({ address, name: to }) => ({ address, text: `to ${to}` })))
    })

    test.each([
      ['S30: a marker inside a text', 'before <NO_REPLY> after', 'before  after'],
      ['S30: both markers, repeated and mixed', '<NO_REPLY>done<EMPTY_RESPONSE><NO_REPLY>', 'done'],
      ['S30: a marker in formatted words', '**<NO_REPLY>** done', 'done'],
    ])('%s is never delivered', async (_, markdown, shown) => {
      const rig = await open()
      const { adapter } = await start(rig)
      const receipts = []
      for (const rendered of rig.format.split(markdown)) receipts.push(await send(adapter, rig.places[0], rendered))

      expect(receipts).toMatchObject([{ kind: 'sent' }])
      expect(squeeze(rig.delivered().map(({ text }) => text))).toEqual(squeeze([shown]))
    })

    test('S28: a part that is only a marker sends nothing', async () => {
      const rig = await open()
      const { adapter } = await start(rig)
      const receipt = await send(adapter, rig.places[0], words('<NO_REPLY>'))

      expect(receipt).toEqual({ kind: 'rejected', reason: 'silent' })
      expect(rig.delivered()).toEqual([])
    })

    test('the bot does not hear itself', async () => {
      const rig = await open()
      const { sink } = await start(rig)
      for (const place of rig.places) rig.echo(place, 'mine')
      rig.say(rig.places[0], 'yours')
      await sink.committed(1)

      expect(sink.offered).toMatchObject([{ text: 'yours' }])
    })

    test.each([
      ['unreachable', { kind: 'not_sent' }, 0],
      ['refused', { kind: 'rejected' }, 0],
      ['refused_for_now', { kind: 'rejected', retryAfterMs: expect.any(Number) }, 0],
      ['answer_lost', { kind: 'unknown' }, 1],
    ] as const)('a send that is %s gives its class and is not repeated', async (fate, receipt, copies) => {
      const rig = await open()
      const { adapter } = await start(rig)
      await rig.fate(fate)

      expect(await send(adapter, rig.places[0], words('once'))).toMatchObject(receipt)
      expect(rig.delivered()).toHaveLength(copies)
    })

    test('a permanent refusal asks for no repetition', async () => {
      const rig = await open()
      const { adapter } = await start(rig)
      await rig.fate('refused')

      expect(await send(adapter, rig.places[0], words('once'))).not.toHaveProperty('retryAfterMs')
    })

    test('a message is acknowledged only after its commit', async () => {
      const rig = await open()
      const { adapter, sink } = await start(rig)
      let commit = (): void => {}
      sink.accepting = () => new Promise((resolve) => (commit = resolve))
      const messageId = rig.say(rig.places[0], 'keep me')
      await sink.until(() => sink.offered.length === 1)

      // Time enough for an acknowledgement that comes too early.
      for (const word of ['one', 'two', 'three']) await send(adapter, rig.places[0], words(word))
      expect(rig.isAcknowledged(messageId, sink)).toBe(false)
      commit()
      await rig.acknowledged(messageId, sink)
      expect(sink.texts).toEqual(['keep me'])
    })

    test('a message that could not be stored comes again', async () => {
      const rig = await open()
      const { sink } = await start(rig)
      let failures = 2
      sink.accepting = async () => {
        if (failures-- > 0) throw new Error('the disk is full')
      }
      const messageId = rig.say(rig.places[0], 'keep me')
      await sink.committed(1)
      await rig.acknowledged(messageId, sink)

      expect(sink.texts).toEqual(['keep me'])
      expect(new Set(sink.offered.map((event) => event.eventKey)).size).toBe(1)
      expect(sink.offered).toHaveLength(3)
    })

    test('after stop nothing is handed over, and stopping twice is fine', async () => {
      const rig = await open()
      const { adapter, sink } = await start(rig)
      await Promise.all([adapter.stop(), adapter.stop()])
      await adapter.stop()
      rig.say(rig.places[0], 'too late')
      const successor = await start(rig, new RecordingSink(sink.stored))
      await successor.sink.committed(1)

      expect(sink.offered).toEqual([])
      expect(adapter.health().status).toBe('down')
    })

    test('what was not acknowledged before a stop comes to the next start under the same key', async () => {
      const rig = await open()
      const { adapter, sink } = await start(rig)
      sink.accepting = () => Promise.reject(new Error('the disk is full'))
      rig.say(rig.places[0], 'keep me')
      await sink.until(() => sink.offered.length === 1)
      await adapter.stop()
      const successor = await start(rig, new RecordingSink(sink.stored))
      const [event] = await successor.sink.committed(1)

      expect(event?.eventKey).toBe(sink.offered[0]?.eventKey)
    })

    test('health names the bot and proves receipt once it listens', async () => {
      const rig = await open()
      const { adapter, sink } = await start(rig)
      const messageId = rig.say(rig.places[0], 'hello')
      await sink.committed(1)
      await rig.acknowledged(messageId, sink)

      expect(adapter.health()).toMatchObject({
        status: 'up',
        identity: { id: expect.any(String), username: expect.any(String) },
        lastProofAt: expect.any(Number),
      })
    })
  })
}

/** What is left of white space around a removed marker is the renderer's affair. */
function squeeze(texts: readonly string[]): string[] {
  return texts.map((text) => text.replace(/\s+/g, ' '))
}
