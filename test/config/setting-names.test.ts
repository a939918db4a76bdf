import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DOCUMENT } from '../http/conforms.ts'

const ROOT = new URL('../../', import.meta.url).pathname

type Schema = {
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
}

const SCHEMA: Schema = JSON.parse(readFileSync(join(ROOT, 'config/parley.schema.json'), 'utf8'))
const OPERATIONS = Object.values(DOCUMENT.paths).flatMap((methods) =>
  Object.values(methods).map(({ operationId }) => operationId),
)
/** Dotted names in quotes that are no settings. */
const OTHERS = new Set([
  ...['http.Agent', 'http.client.response.finish', 'media.discordapp.net', 'store.path'],
  ...OPERATIONS,
])

function optionsOf(schema: Schema): readonly Schema[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema
  const target = $ref === undefined ? [] : [$ref.slice(2).split('/').reduce<Schema>(Reflect.get, SCHEMA)]
  return [schema, ...[...target, ...anyOf, ...oneOf, ...allOf].flatMap(optionsOf)]
}

function stepInto(schemas: readonly Schema[], key: string): readonly Schema[] {
  return schemas.flatMap(optionsOf).flatMap(({ properties, additionalProperties, items }) => {
    const named = properties?.[key]
    const any = typeof additionalProperties === 'object' ? [additionalProperties] : []
    return [...(named ? [named] : any), ...(items ? stepInto([items], key) : [])]
  })
}

const isSetting = (name: string): boolean => name.split('.').reduce(stepInto, [SCHEMA] as readonly Schema[]).length > 0

const TOP = Object.keys(SCHEMA.properties ?? {}).filter((key) => /^[a-z]/.test(key))

function settingsIn(text: string): readonly string[] {
  const setting = new RegExp(`(?<![\\w./\${-])(?:${TOP.join('|')})(?:\\.[a-zA-Z]+)+`, 'g')
  return text.replaceAll(/\$\{[^}]*\}/g, '*').match(setting) ?? []
}

test('every setting that a text of the program names exists', () => {
  const files = ['src', 'adapters'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith('rehearsal'))
      .map((file) => join(folder, file)),
  )
  const named = files.flatMap((file) => {
    const texts = readFileSync(join(ROOT, file), 'utf8').match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? []
    return texts.flatMap(settingsIn).map((name) => [name, file])
  })

  expect(named.length).toBeGreaterThan(30)
  expect(named.filter(([name = '']) => !OTHERS.has(name) && !isSetting(name))).toEqual([])
})

test('every setting that a page for operators names exists', () => {
  const beside = ['config', 'systemd'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  const pages = ['README.md', ...beside].filter((page) => /\.(md|yaml|service|example)$/.test(page))
  const named = pages.flatMap((page) => settingsIn(readFileSync(join(ROOT, page), 'utf8')).map((name) => [name, page]))

  expect(named.map(([, page]) => page)).toEqual(expect.arrayContaining(['config/reference.md', 'config/operating.md']))
  expect(named.filter(([name = '']) => !isSetting(name))).toEqual([])
})
