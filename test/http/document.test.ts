import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { SCOPES } from '../../src/core/token.ts'
import { createRoutes } from '../../src/http/app.ts'
import { describeApi } from '../../src/http/document.ts'
import type { Shape } from '../../src/http/schemas/shape.ts'
import { maybe, object, oneOf, text } from '../../src/http/schemas/shape.ts'
import { VERSION } from '../../src/platform/version.ts'
import { sampleSession } from '../fakes/operator.ts'
import { DOCUMENT, undocumented } from './conforms.ts'

const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation })),
)
/** Open to everybody, each for a reason of its own: `src/http/routes` says which. */
const OPEN = ['health.show', 'document.page']
/** Open besides to whoever says nothing of themselves. */
const ALSO_OPEN = ['health.ready', 'hook.call']
/** Any valid token will do. */
const ANY_TOKEN = ['document.load']

/** Returns the number of ways to be let in that an operation has to name. */
function waysIn(operation: string): number {
  if (OPEN.includes(operation)) return 0
  return ALSO_OPEN.includes(operation) ? 2 : 1
}

/** Returns whether a path with parameters is also the address of another operation. */
function matches(pattern: string, path: string): boolean {
  const parts = [pattern, path].map((one) => one.split('/'))
  const [first = [], second = []] = parts
  return first.length === second.length && first.every((part, at) => part.startsWith('{') || part === second[at])
}

describe('the document of the API', () => {
  test('is what the build has written', () => {
    const built = JSON.parse(readFileSync(new URL('../../dist/openapi.json', import.meta.url), 'utf8'))
    expect(built).toEqual(JSON.parse(JSON.stringify(describeApi(createRoutes(), VERSION))))
    expect(built.info.version).toBe(VERSION)
  })

  test('has every route, each with a name of its own', () => {
    const routes = createRoutes().openAPIRegistry.definitions.filter(({ type }) => type === 'route')
    const names = OPERATIONS.map(({ operationId }) => operationId)
    expect(names).toHaveLength(routes.length)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => !/^[a-z]+\.[a-z][A-Za-z]*$/.test(name))).toEqual([])
    const procedures = ['list', 'load', 'rename', 'delete'].map((verb) => `session.${verb}`)
    expect(names).toEqual(expect.arrayContaining([...procedures, 'agent.prompt']))
  })

  test.each(OPERATIONS)('$operationId says its scope, its answer and how it fails', (operation) => {
    const { operationId, security, responses, parameters, requestBody, tags, summary } = operation
    const scopes = security?.flatMap(({ token = [] }) => token) ?? ['none said']
    expect(scopes.filter((scope) => !SCOPES.some((one) => one === scope))).toEqual([])
    expect([operationId, security?.length]).toEqual([operationId, waysIn(operationId)])
    expect([operationId, scopes.length]).toEqual([operationId, [...OPEN, ...ANY_TOKEN].includes(operationId) ? 0 : 1])
    expect(tags).toEqual([operationId.split('.')[0]])
    expect(summary).toBeTruthy()
    const content = ((responses[200] ?? responses[202]) as { readonly content: object } | undefined)?.content ?? {}
    expect(JSON.stringify(content)).toMatch(/"schema":\{"(type|\$ref|anyOf)"/)
    const failures = Object.keys(responses)
    expect(failures).toEqual(expect.arrayContaining(OPEN.includes(operationId) ? [] : ['401', '429']))
    expect(failures).toEqual(expect.arrayContaining(['400', '403', '500', '503', 'default']))
    if (parameters !== undefined) expect(failures).toContain('404')
    if (requestBody !== undefined) expect(failures).toContain('413')
    expect([operationId, failures.includes('410')]).toEqual([operationId, operationId.endsWith('.follow')])
  })

  test('addresses of operations are found from the address of the document, also below the path of a proxy', () => {
    for (const base of ['http://127.0.0.1:7275/', 'https://example.org/house/parley/']) {
      const found = DOCUMENT.servers.map(({ url }) => new URL(url, `${base}v1/openapi.json`).href)
      expect(found).toEqual([base])
    }
  })

  test('names the license of the package', () => {
    const { license } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(DOCUMENT.info.license.identifier).toBe(license)
    const [title] = readFileSync(new URL('../../LICENSE', import.meta.url), 'utf8').split('\n')
    expect(DOCUMENT.info.license.name).toBe(title)
  })

  test('each path is one of its own and declares its parameters', () => {
    const paths = Object.keys(DOCUMENT.paths)
    const shapes = paths.map((path) => path.replaceAll(/\{[^}]+\}/g, '{}'))
    expect(new Set(shapes).size).toBe(shapes.length)
    expect(paths.filter((path) => !/^\/([\w.-]+|\{\w+\})(\/([\w.-]+|\{\w+\}))*$/.test(path))).toEqual([])
    for (const { operationId, path, parameters = [] } of OPERATIONS) {
      const declared = parameters.filter((one) => one.in === 'path' && one.required).map(({ name }) => name)
      expect([operationId, declared]).toEqual([operationId, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)])
    }
    // A fixed path that a parameter would match as well has no method of the other.
    const ambiguous = OPERATIONS.flatMap((one) =>
      OPERATIONS.filter(({ path, method }) => one.path !== path && one.method === method && matches(one.path, path)),
    )
    expect(ambiguous.map(({ operationId }) => operationId)).toEqual([])
  })

  test('refers to nothing that is not there, and has no shape that nobody refers to', () => {
    const references = [...JSON.stringify(DOCUMENT).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)]
    const used = new Set(references.map(([, kind, name]) => `${kind}/${name}`))
    const { schemas, responses } = DOCUMENT.components
    const there = Object.entries({ schemas, responses }).flatMap(([kind, all]) =>
      Object.keys(all).map((name) => `${kind}/${name}`),
    )
    expect([...used].sort()).toEqual(there.sort())
    expect(references).toHaveLength(JSON.stringify(DOCUMENT).split('"$ref"').length - 1)
  })

  test('an answer with a field or a word that it does not name, or without one that it promises, is a mistake', () => {
    const seen = { method: 'GET', path: '/v1/sessions/main', status: 200 }
    expect(undocumented({ ...seen, body: sampleSession })).toEqual([])
    expect(undocumented({ ...seen, body: { ...sampleSession, shoe: 43 } })).toEqual(['200.shoe is not in the document'])
    expect(undocumented({ ...seen, body: { ...sampleSession, status: 'lost' } })).toHaveLength(1)
    const { agent, ...rest } = sampleSession
    expect(undocumented({ ...seen, body: rest })).toEqual(['200.agent is missing'])
    expect(undocumented({ ...seen, status: 302, body: {} })).toHaveLength(1)
    expect(agent).toBe('main')
  })
})

interface Cup {
  readonly size: 'small' | 'large'
  readonly note?: string
}

describe('the shape of an answer', () => {
  const size = oneOf({ small: true, large: true })

  test('is that of its type: the compiler refuses a field that is missing, unknown, of another type or required', () => {
    object<Cup>({ size, note: maybe(text) })
    // @ts-expect-error without `note`
    object<Cup>({ size })
    // @ts-expect-error with a field that a cup does not have
    object<Cup>({ size, note: maybe(text), lid: text })
    // @ts-expect-error `note` may be absent
    object<Cup>({ size, note: text })
    // @ts-expect-error `size` is not any text
    object<Cup>({ size: text, note: maybe(text) })
    // @ts-expect-error not all sizes
    const fewer: Shape<Cup['size']> = oneOf({ small: true })
    expect(fewer).toBeDefined()
  })

  test('lets pass what a newer daemon may say, and nothing that would be shown wrong', () => {
    const cup = object<Cup>({ size, note: maybe(text) })
    expect(cup.safeParse({ size: 'huge', handle: 1 }).success).toBe(true)
    for (const wrong of [{}, { size: 1 }, { size: 'small', note: 7 }, [], null, 'small'])
      expect([wrong, cup.safeParse(wrong).success]).toEqual([wrong, false])
  })
})
