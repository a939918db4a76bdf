import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { ReceiptProof } from '../../../adapters/shared/receipt-proof.ts'
import { ManualClock } from '../telegram/manual-clock.ts'

function rig(ask?: () => Promise<boolean>) {
  const clock = new ManualClock()
  const abort = new AbortController()
  const told: string[] = []
  const proof = new ReceiptProof({
    clock,
    signal: abort.signal,
    ask,
    proven: () => told.push('proven'),
    unproven: () => told.push('unproven'),
  })
  return { clock, abort, told, proof }
}
const silence = () => Promise.resolve(false)

test('before the first interruption nothing is to be proven', () => {
  const { proof, told } = rig()
  expect(proof.seek()).toBe(false)
  expect(told).toEqual(['proven'])
})

test('an event ends an interruption, once', () => {
  const { clock, proof, told } = rig()
  proof.lost()
  expect(proof.seek()).toBe(true)
  expect(proof.isSought).toBe(true)
  proof.found()
  proof.found()
  expect(told).toEqual(['proven'])
  expect(proof.isSought).toBe(false)
  expect(clock.pending).toBe(0)
})

test('an event that came before its connection was known to stand ends it too', () => {
  const { proof, told } = rig()
  proof.lost()
  proof.found()
  expect(proof.seek()).toBe(false)
  expect(told).toEqual(['proven'])
})

test('an answer to the question ends it; it is asked again every 5 s', async () => {
  let asked = 0
  const { clock, proof, told } = rig(() => Promise.resolve(++asked === 3))
  proof.lost()
  proof.seek()
  await clock.armed(5000)
  await clock.advance(5000)
  expect([asked, told]).toEqual([2, []])
  await clock.armed(5000)
  await clock.advance(5000)
  expect([asked, told]).toEqual([3, ['proven']])
  expect(clock.pending).toBe(0)
})

test('after 60 s without either the connection is given up, once', async () => {
  const { clock, proof, told } = rig(silence)
  proof.lost()
  proof.seek()
  await clock.advance(59_999)
  expect(told).toEqual([])
  await clock.advance(1)
  expect(told).toEqual(['unproven'])
  await clock.advance(120_000)
  expect(told).toEqual(['unproven'])
})

test('a stop ends the search without a word, and leaves neither timer nor listener', async () => {
  const { clock, abort, proof, told } = rig()
  proof.lost()
  proof.seek()
  proof.end()
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
  proof.seek()
  abort.abort()
  await clock.advance(120_000)
  expect(told).toEqual([])
  expect(clock.pending).toBe(0)
})
