import { z } from '@hono/zod-openapi'
import { expect, it } from 'vitest'
import { createRoutes } from '../../src/http/app.ts'
import { eachRoute } from '../../src/http/gate.ts'
import { chatBody, chatContent } from '../../src/http/schemas/chat.ts'

/** Values that most fields do not take. */
const ODD = [null, true, 7, -1.5, 'x', '', [], [7], [null], {}, { a: 7 }, { url: 7 }, { type: 7 }]
/** The words of the schema library, which name its own types. */
const RAW = /invalid input|expected|received|unrecognized|too (big|small)/i

function refusals(schema: z.ZodType, value: unknown): readonly string[] {
  return schema.safeParse(value).error?.issues.flatMap((issue) => said(issue)) ?? []
}

/** Returns what is said of a mistake; a field that there is not is named by `sentenceOf`. */
function said(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'unrecognized_keys') return []
  const inner = issue.code === 'invalid_union' ? issue.errors.flat().filter(({ path }) => path.length > 0) : []
  return [`${issue.path.join('.')}: ${issue.message}`, ...inner.flatMap(said)]
}

it('what is wrong with a field of any body is said in words, and not in those of a schema', () => {
  let fields = 0
  const bodies = eachRoute(createRoutes()).flatMap(({ request }) => {
    const { schema } = { schema: undefined, ...request?.body?.content?.['application/json'] }
    return schema instanceof z.ZodObject ? [schema] : []
  })
  for (const schema of [...bodies, chatBody])
    for (const name of Object.keys(schema.shape)) {
      fields++
      for (const value of ODD) {
        const words = refusals(schema, { [name]: value }).filter((text) => text.startsWith(name))
        expect([name, value, words.filter((text) => RAW.test(text))]).toEqual([name, value, []])
      }
    }
  expect(fields).toBeGreaterThan(40)
  for (const value of ODD) expect(refusals(chatContent, value).filter((text) => RAW.test(text))).toEqual([])
})
