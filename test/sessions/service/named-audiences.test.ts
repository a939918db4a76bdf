import { expect, it } from 'vitest'
import { NamedAudiences } from '../../../src/sessions/service/named-audiences.ts'

it('F-H11: a yes means what was named before; what came since is more, and what is done was never named', () => {
  const named = new NamedAudiences()
  expect(named.unnamed('a to b', ['ada'])).toEqual([])
  named.name('a to b', ['ada'])
  expect(named.unnamed('a to b', ['ada', 'bo'])).toEqual(['bo'])
  expect(named.unnamed('a to c', ['ada', 'bo'])).toEqual([])
  named.name('a to b', ['ada', 'bo'])
  expect(named.unnamed('a to b', ['ada', 'bo'])).toEqual([])
  named.done('a to b')
  expect(named.unnamed('a to b', ['cy'])).toEqual([])
})

it('F-H11: of more than a hundred the one that was named longest ago is forgotten', () => {
  const named = new NamedAudiences()
  for (let no = 0; no < 100; no++) named.name(`${no}`, ['ada'])
  named.name('0', ['ada'])
  named.name('100', ['ada'])
  const known = (key: string): boolean => named.unnamed(key, ['bo']).length > 0
  expect(['0', '1', '2', '100'].map(known)).toEqual([true, false, true, true])
})
