import type { GraphCall, GraphModule } from '../shared/graph/graph.ts'
import type { Caller } from './tokens.ts'

/** The graph as persons and pages call it. */
export type MetaCall = GraphCall<Caller>
export type MetaModule = GraphModule<Caller>
