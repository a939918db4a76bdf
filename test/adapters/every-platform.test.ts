import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { catalogue } from '../../adapters/index.ts'

/** Tests with a row for each platform, which would stay green without one. */
const WITH_A_ROW = ['wrong-server', 'odd-payloads', 'nulls', 'prototype-names', 'lookup']

describe('every platform', () => {
  it.each(WITH_A_ROW)('has its row in %s', (name) => {
    const text = readFileSync(new URL(`${name}.test.ts`, import.meta.url), 'utf8').toLowerCase()
    expect(Object.keys(catalogue).filter((id) => !text.includes(id))).toEqual([])
  })
})
