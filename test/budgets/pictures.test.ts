import { expect, it } from 'vitest'
import { payForModels } from '../../src/budgets/paid-models.ts'
import { mediaId } from '../../src/core/ids.ts'
import type { Model } from '../../src/core/model.ts'
import { removeTempFolders } from '../store/temp-database.ts'
import { QUESTION, settingsOf, startRig } from './rig.ts'

removeTempFolders()

const picture = { type: 'image', media: mediaId('a'.repeat(64)), mime: 'image/png', size: 100 } as const
const messages = [{ role: 'user', content: [picture, picture] }] as const

it.each([
  ['anthropic/claude-opus-4-8', 4_784],
  ['anthropic/claude-sonnet-5', 4_784],
  ['anthropic/claude-opus-4-6', 1_600],
  ['anthropic/claude-haiku-4-5-20251001', 1_600],
  ['anthropic/claude-3-7-sonnet', 1_600],
  ['openai/gpt-5-nano', 3_779],
  ['openai/gpt-4o-mini', 48_169],
  ['openai/gpt-4o-mini-2024-07-18', 48_169],
])('C33: of a picture for %s so much is held as its provider charges at most: %i tokens', async (id, tokens) => {
  const settings = settingsOf({ total: { day: { tokens: 1_000_000 } } })
  const rig = await startRig(settings)
  const held: number[] = []
  const model: Model = {
    id,
    async *stream() {
      held.push((await rig.spent()).held)
      yield { type: 'end', stop: 'end', usage: { input: 1, output: 1 }, model: id }
    },
  }
  const paid = payForModels({ models: async () => model, gate: rig.gate, settings })
  const asked = await paid(id, rig.charge)
  for await (const _ of asked.stream({ ...QUESTION, messages }, new AbortController().signal));
  expect(held).toHaveLength(1)
  expect(held[0]).toBeGreaterThanOrEqual(2 * tokens + QUESTION.maxTokens)
  expect(held[0]).toBeLessThan(3 * tokens + QUESTION.maxTokens)
})
