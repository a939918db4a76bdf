import { expect, it } from 'vitest'
import { payForAudio } from '../../src/budgets/paid-audio.ts'
import type { Audio } from '../../src/core/audio.ts'
import { type ErrorCode, ParleyError } from '../../src/core/errors.ts'
import { tokensOf, type Usage } from '../../src/core/model.ts'
import { removeTempFolders } from '../store/temp-database.ts'
import { settingsOf, startRig } from './rig.ts'

removeTempFolders()

const signal = new AbortController().signal
/** A minute of sound at the lowest rate that is usual for its type. */
const MINUTE = { bytes: new Uint8Array(120_000), mime: 'audio/ogg; codecs=opus' }

async function rig(audio: Audio, tokens = 10_000) {
  const settings = settingsOf({ total: { day: { tokens } } })
  const started = await startRig(settings)
  const { gate } = started
  const all: Usage[] = []
  const counted = async (usage: Usage) => void all.push(usage)
  return { ...started, all, audio: payForAudio(audio, { budgets: { gate, settings }, models: {}, spent: counted }) }
}

const failing = (code: ErrorCode): Audio => ({
  transcribe: () => Promise.reject(new ParleyError(code, 'as the test says')),
})

it.each([
  ['what the endpoint counts', { said: 'hi', usage: { input: 70, output: 7 } }, 77],
  ['the length of the recording where it counts nothing', { said: 'hi' }, 1_300],
])('C33: a recording costs %s', async (_, result, cost) => {
  const { audio, charge, spent, all } = await rig({ transcribe: async () => result })
  await audio.transcribe?.(MINUTE, signal, charge)
  expect(await spent()).toMatchObject({ spent: cost, held: 0 })
  expect(all.map(tokensOf)).toEqual([cost])
})

it.each<[ErrorCode, number]>([
  ['unavailable', 0],
  ['too_long', 0],
  ['aborted', 1_300],
  ['unreadable', 1_300],
])(
  'C33: a recording that ends with %s costs %i tokens: what was stopped or came to nothing may have been done',
  async (code, cost) => {
    const { audio, charge, spent, all } = await rig(failing(code))
    await expect(audio.transcribe?.(MINUTE, signal, charge)).rejects.toMatchObject({ code })
    expect(await spent()).toMatchObject({ spent: cost, held: 0 })
    expect(all.map(tokensOf)).toEqual([cost])
  },
)

it('C33: a recording that does not fit is not sent, and a minute of a kind that is not packed is longer in bytes', async () => {
  const sent: number[] = []
  const transcribe: Audio['transcribe'] = async ({ bytes }) => {
    sent.push(bytes.length)
    return { said: 'hi' }
  }
  const { audio, charge } = await rig({ transcribe }, 1_300)
  const minutes = (bytes: number, mime: string) =>
    audio.transcribe?.({ bytes: new Uint8Array(bytes), mime }, signal, charge)
  await expect(minutes(130_000, 'audio/ogg')).rejects.toMatchObject({ code: 'budget_spent' })
  await minutes(960_000, 'audio/wav')
  expect(sent).toEqual([960_000])
})

it('C22: a recording that is charged to nobody is counted all the same', async () => {
  const { audio, spent, all } = await rig({ transcribe: async () => ({ said: 'hi' }) })
  await audio.transcribe?.(MINUTE, signal)
  expect(await spent()).toMatchObject({ spent: 0, held: 0 })
  expect(all.map(tokensOf)).toEqual([1_300])
})
