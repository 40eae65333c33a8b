import type { GraphCall, GraphModule } from '../shared/graph/graph.ts'
import type { Caller } from './tokens.ts'

/** A call of the graph by a person or a page. */
export type MetaCall = GraphCall<Caller>
export type MetaModule = GraphModule<Caller>
