import { expect, it } from 'vitest'
import { ownerIds } from '../../src/routing/owner-ids.ts'
import { member, owner } from '../fakes/routing-policy.ts'

it('K15: the ids of the owners on a channel are those with its name and the bare ones', () => {
  const people = [
    owner('ada', 'telegram:111', 'Discord:222', '999'),
    owner('eve', 'telegram:111'),
    member('bob', 'telegram:444'),
  ]
  expect(ownerIds(people, 'telegram')).toEqual(['111', '999'])
  expect(ownerIds(people, 'discord')).toEqual(['222', '999'])
  expect(ownerIds([], 'slack')).toEqual([])
})
