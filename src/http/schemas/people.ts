import type {
  IdentityChangeReport,
  LetInReport,
  LinkedId,
  PeopleReport,
  PersonReport,
} from '../../core/operate-people.ts'
import { list, maybe, object, oneOf, text, time } from './shape.ts'

const platformId = object<PersonReport['ids'][number]>({
  id: text,
  from: oneOf({ configuration: true, link: true, claim: true }),
  overruledBy: maybe(text),
})
const change = object<IdentityChangeReport>(
  { at: time, kind: oneOf({ claimed: true, linked: true, unlinked: true }), person: text, id: text, by: text },
  'IdentityChange',
)

export const linkedId = object<LinkedId>({ person: text, id: text }, 'LinkedId')
export const people = object<PeopleReport>(
  {
    people: list(object<PersonReport>({ name: text, role: text, ids: list(platformId) }, 'Person')),
    letIn: list(object<LetInReport>({ kind: text, key: text, name: text, at: time, by: text }, 'LetIn')),
    changes: list(change),
  },
  'People',
)
