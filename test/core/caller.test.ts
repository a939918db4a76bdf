import { expect, it } from 'vitest'
import { holdsSession, namespacesOf, parseNamespace } from '../../src/core/caller.ts'

it.each<[string, readonly string[]]>([
  ['api:desk', ['api']],
  ['api:shop:desk', ['api', 'api:shop']],
  ['web:a:b:c:d', ['web', 'web:a', 'web:a:b', 'web:a:b:c']],
  ['web:a:b:c:d:e', ['web', 'web:a', 'web:a:b', 'web:a:b:c']],
  ['node-desk', ['node-desk']],
  ['node-desk:more', ['node-desk']],
  ['nodes', []],
])('S42: the session %j is in the lists of the namespaces that hold it, and in no others', (session, namespaces) => {
  expect(namespacesOf(session)).toEqual(namespaces)
  const parts = session.split(':')
  const near = parts.map((_, at) => parts.slice(0, at + 1).join(':'))
  const holding = near.filter((text) => {
    const namespace = parseNamespace(text)
    return namespace !== undefined && holdsSession(namespace, session)
  })
  expect(holding).toEqual(namespaces)
})
