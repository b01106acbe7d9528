// The ontology ai-infra 1.0.0+f808b919, for Neo4j Community.
// A node has the labels of its type and of all that it is.

// Model
CREATE INDEX `index.Model.name` IF NOT EXISTS FOR (n:`Model`) ON (n.`name`);

// Organization
CREATE INDEX `index.Organization.name` IF NOT EXISTS FOR (n:`Organization`) ON (n.`name`);

// Person
CREATE INDEX `index.Person.name` IF NOT EXISTS FOR (n:`Person`) ON (n.`name`);

// Paper
CREATE INDEX `index.Paper.name` IF NOT EXISTS FOR (n:`Paper`) ON (n.`name`);

// Venue
CREATE INDEX `index.Venue.name` IF NOT EXISTS FOR (n:`Venue`) ON (n.`name`);

// Dataset
CREATE INDEX `index.Dataset.name` IF NOT EXISTS FOR (n:`Dataset`) ON (n.`name`);

// Benchmark
CREATE INDEX `index.Benchmark.name` IF NOT EXISTS FOR (n:`Benchmark`) ON (n.`name`);

// Method
CREATE INDEX `index.Method.name` IF NOT EXISTS FOR (n:`Method`) ON (n.`name`);

// Hardware
CREATE INDEX `index.Hardware.name` IF NOT EXISTS FOR (n:`Hardware`) ON (n.`name`);

// License
CREATE INDEX `index.License.name` IF NOT EXISTS FOR (n:`License`) ON (n.`name`);
