import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readUpdate } from '../../../adapters/telegram/inbound/read-event.ts'
import { context } from './inbound-context.ts'

interface Fixture {
  readonly title: string
  readonly update: unknown
  readonly reading: unknown
}

const folder = new URL('../../fixtures/telegram/', import.meta.url)
const fixtures = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Fixture)

describe('readUpdate on recorded updates', () => {
  test.each(fixtures.map((fixture) => [fixture.title, fixture] as const))('%s', (_, { update, reading }) => {
    expect(readUpdate(update, context)).toStrictEqual(reading)
  })
})
