import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readEventBody } from '../../../adapters/slack/inbound/read-event.ts'
import { context } from './inbound-context.ts'

interface Fixture {
  readonly title: string
  readonly body: unknown
  readonly reading: unknown
}

const folder = new URL('../../fixtures/slack/', import.meta.url)
const fixtures = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Fixture)

describe('readEventBody on payloads as the platform documents them', () => {
  test.each(fixtures.map((fixture) => [fixture.title, fixture] as const))('%s', (_, { body, reading }) => {
    expect(readEventBody(body, context)).toStrictEqual(reading)
  })
})
