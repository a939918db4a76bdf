import { expect, test } from 'vitest'
import type { TraceId } from '../../src/core/ids.ts'
import { createCalls } from '../../src/delivery/calls.ts'
import { createGrowingMessage, type Editor } from '../../src/delivery/growing-message.ts'
import { DEFAULT_SETTINGS } from '../../src/delivery/settings.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { noMedia } from '../fakes/media.ts'
import { at, DM, openRig } from './rig.ts'

test('a message abandoned while its row waits for the disk goes out with a signal that has aborted', async () => {
  const { store, clock, ids, channel } = await openRig()
  const disk = deferred<void>()
  const slow = { ...store, write: () => disk.promise as Promise<never> }
  const deps = {
    store: slow,
    clock,
    ids,
    settings: DEFAULT_SETTINGS,
    epoch: store.epoch,
    calls: createCalls(),
    random: () => 0,
    media: noMedia,
  }
  const turn = { turnId: ids.turn(), traceId: 'tr_1' as TraceId, address: at(DM) }
  const message = createGrowingMessage(deps, turn)
  const aborted: boolean[] = []
  const editor: Editor = Object.create(channel, {
    send: {
      value: async (_: unknown, signal: AbortSignal) => {
        aborted.push(signal.aborted)
        return { kind: 'not_sent', reason: 'stopped' }
      },
    },
  })
  const shown = message.show(editor, { text: 'Hel', plain: 'Hel', markup: 'plain' })
  message.abandon()
  disk.resolve()
  await shown
  expect(aborted).toEqual([true])
})
