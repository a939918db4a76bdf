import { z } from '@hono/zod-openapi'
import { describe, expect, it } from 'vitest'
import { DOORS } from '../../src/core/doors.ts'
import { SCOPES } from '../../src/core/token.ts'
import { createRoutes } from '../../src/http/app.ts'
import { eachRoute } from '../../src/http/gate.ts'
import { chatBody } from '../../src/http/schemas/chat.ts'
import { startApiHouse } from '../e2e/api-house.ts'
import { filled } from '../http/known-routes.ts'
import { storeDigest } from '../http/store-digest.ts'

const ANSWERS = [200, 202, 400, 403, 404, 409, 413, 503]
const WITH_BODY = new Set(['post', 'put', 'patch', 'delete'])
const CHAT = '/v1/chat/completions'
/** Every route of the router's own list that may change something, with the fields of its body. */
const ROUTES = eachRoute(createRoutes())
  .filter(({ method }) => WITH_BODY.has(method))
  .map(({ method, path, request }) => {
    const json = request?.body?.content['application/json']
    const read = json !== undefined && 'schema' in json ? json.schema : undefined
    const schema = path === CHAT ? chatBody : read
    const fields = schema instanceof z.ZodObject ? Object.keys(schema.shape) : ['a']
    return { method: method.toUpperCase(), path, reads: schema !== undefined, fields }
  })

/** Returns the worst values that a field can have within these bounds, each with a little room for what is around it. */
function worst({ bytes, values }: { readonly bytes: number; readonly values: number }): readonly string[] {
  const many = values - 10
  const list = (item: string, each: number) =>
    `[${Array(Math.floor(many / each))
      .fill(item)
      .join()}]`
  const members = Array.from({ length: Math.floor(many / 2) }, (_, at) => `"k${at}":[]`)
  return [
    ...[list('0', 1), list('"x"', 1), list('{}', 2), list('[]', 2), list('{"role":0,"content":[0]}', 4)],
    `{${Array.from({ length: many }, (_, at) => `"k${at}":0`).join()}}`,
    `{${members.join()}}`,
    `${'['.repeat(90)}${']'.repeat(90)}`,
    `"${'x'.repeat(bytes - 100)}"`,
    `"${'\\u0000'.repeat((bytes - 100) / 6)}"`,
    '1'.repeat(bytes - 100),
  ]
}

// Control characters of a value that an error names take six each.
// The first field of a route gets the largest values, every other one the same kinds in few bytes.
const [FEW, ALL, WITH_FILES] = [worst({ ...DOORS.api, bytes: 1_000 }), worst(DOORS.api), worst(DOORS.notification)]
const WORST = ROUTES.flatMap(({ method, path, fields }) =>
  fields.flatMap((field, at) =>
    (at > 0 ? FEW : path === '/v1/notifications' ? WITH_FILES : ALL).map((value) => ({ method, path, field, value })),
  ),
)

describe('door api, hook, notification: the bodies of all routes', () => {
  it('the worst that the bounds allow in every field of every route: refused in a few words, never a failure of ours', async () => {
    const house = await startApiHouse()
    const { headers } = await house.bearer({ owner: true, scopes: SCOPES })
    for (const { method, path, field, value } of WORST) {
      const asked = { method, headers, body: `{"${field}":${value}}` }
      const { status, text } = await house.ask(filled(path, 'api:none'), asked)
      const answer = { status, few: status < 400 || text.length < 13_000 }
      const about = [method, path, field, value.slice(0, 20)]
      expect([...about, answer, ANSWERS.includes(status)]).toEqual([...about, { status, few: true }, true])
    }
  })

  it('more values or levels than the bound: 400 at every route that reads a body, and nothing is stored', async () => {
    const house = await startApiHouse()
    const { headers } = await house.bearer({ owner: true, scopes: SCOPES })
    const before = storeDigest(house.config.store.path)
    for (const { method, path, fields } of ROUTES.filter(({ reads }) => reads)) {
      const { values } = path === CHAT ? DOORS.chat : DOORS.api
      for (const value of [`[${'0,'.repeat(values)}0]`, `${'['.repeat(101)}${']'.repeat(101)}`]) {
        const body = `{"${fields[0]}":${value}}`
        const { status, text } = await house.ask(filled(path, 'api:none'), { method, headers, body })
        expect([method, path, status, text]).toEqual([method, path, 400, expect.stringMatching(/values|levels/)])
      }
    }
    expect({ ...storeDigest(house.config.store.path), tokens: '' }).toEqual({ ...before, tokens: '' })
  })
})
