// The ontology ai-infra 1.0.0+f808b919, for Neo4j Enterprise.
// A node has the labels of its type and of all that it is.

// Model
CREATE INDEX `index.Model.name` IF NOT EXISTS FOR (n:`Model`) ON (n.`name`);
CREATE CONSTRAINT `exists.Model.name` IF NOT EXISTS FOR (n:`Model`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Model.name` IF NOT EXISTS FOR (n:`Model`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.Model.context_length` IF NOT EXISTS FOR (n:`Model`) REQUIRE n.`context_length` IS :: INTEGER;
CREATE CONSTRAINT `type.Model.parameters` IF NOT EXISTS FOR (n:`Model`) REQUIRE n.`parameters` IS :: INTEGER;
CREATE CONSTRAINT `type.Model.active_parameters` IF NOT EXISTS FOR (n:`Model`) REQUIRE n.`active_parameters` IS :: INTEGER;
CREATE CONSTRAINT `type.Model.training_method` IF NOT EXISTS FOR (n:`Model`) REQUIRE n.`training_method` IS :: LIST<STRING NOT NULL>;
CREATE CONSTRAINT `type.Model.license_type` IF NOT EXISTS FOR (n:`Model`) REQUIRE n.`license_type` IS :: STRING;
CREATE CONSTRAINT `type.Model.hardware_requirement.gpu_memory` IF NOT EXISTS FOR (n:`Model`) REQUIRE n.`hardware_requirement.gpu_memory` IS :: FLOAT;
CREATE CONSTRAINT `type.Model.hardware_requirement.cpu_cores` IF NOT EXISTS FOR (n:`Model`) REQUIRE n.`hardware_requirement.cpu_cores` IS :: INTEGER;
CREATE CONSTRAINT `type.Model.released` IF NOT EXISTS FOR (n:`Model`) REQUIRE n.`released` IS :: DATE;

// Organization
CREATE INDEX `index.Organization.name` IF NOT EXISTS FOR (n:`Organization`) ON (n.`name`);
CREATE CONSTRAINT `exists.Organization.name` IF NOT EXISTS FOR (n:`Organization`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Organization.name` IF NOT EXISTS FOR (n:`Organization`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.Organization.founded` IF NOT EXISTS FOR (n:`Organization`) REQUIRE n.`founded` IS :: INTEGER;
CREATE CONSTRAINT `type.Organization.headquarters` IF NOT EXISTS FOR (n:`Organization`) REQUIRE n.`headquarters` IS :: STRING;

// Person
CREATE INDEX `index.Person.name` IF NOT EXISTS FOR (n:`Person`) ON (n.`name`);
CREATE CONSTRAINT `exists.Person.name` IF NOT EXISTS FOR (n:`Person`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Person.name` IF NOT EXISTS FOR (n:`Person`) REQUIRE n.`name` IS :: STRING;

// Paper
CREATE INDEX `index.Paper.name` IF NOT EXISTS FOR (n:`Paper`) ON (n.`name`);
CREATE CONSTRAINT `exists.Paper.name` IF NOT EXISTS FOR (n:`Paper`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Paper.name` IF NOT EXISTS FOR (n:`Paper`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.Paper.year` IF NOT EXISTS FOR (n:`Paper`) REQUIRE n.`year` IS :: INTEGER;
CREATE CONSTRAINT `type.Paper.url` IF NOT EXISTS FOR (n:`Paper`) REQUIRE n.`url` IS :: STRING;

// Venue
CREATE INDEX `index.Venue.name` IF NOT EXISTS FOR (n:`Venue`) ON (n.`name`);
CREATE CONSTRAINT `exists.Venue.name` IF NOT EXISTS FOR (n:`Venue`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Venue.name` IF NOT EXISTS FOR (n:`Venue`) REQUIRE n.`name` IS :: STRING;

// Dataset
CREATE INDEX `index.Dataset.name` IF NOT EXISTS FOR (n:`Dataset`) ON (n.`name`);
CREATE CONSTRAINT `exists.Dataset.name` IF NOT EXISTS FOR (n:`Dataset`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Dataset.name` IF NOT EXISTS FOR (n:`Dataset`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.Dataset.tokens` IF NOT EXISTS FOR (n:`Dataset`) REQUIRE n.`tokens` IS :: INTEGER;
CREATE CONSTRAINT `type.Dataset.license_type` IF NOT EXISTS FOR (n:`Dataset`) REQUIRE n.`license_type` IS :: STRING;

// Benchmark
CREATE INDEX `index.Benchmark.name` IF NOT EXISTS FOR (n:`Benchmark`) ON (n.`name`);
CREATE CONSTRAINT `exists.Benchmark.name` IF NOT EXISTS FOR (n:`Benchmark`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Benchmark.name` IF NOT EXISTS FOR (n:`Benchmark`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.Benchmark.measures` IF NOT EXISTS FOR (n:`Benchmark`) REQUIRE n.`measures` IS :: LIST<STRING NOT NULL>;
CREATE CONSTRAINT `type.Benchmark.questions` IF NOT EXISTS FOR (n:`Benchmark`) REQUIRE n.`questions` IS :: INTEGER;

// Method
CREATE INDEX `index.Method.name` IF NOT EXISTS FOR (n:`Method`) ON (n.`name`);
CREATE CONSTRAINT `exists.Method.name` IF NOT EXISTS FOR (n:`Method`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Method.name` IF NOT EXISTS FOR (n:`Method`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.Method.year` IF NOT EXISTS FOR (n:`Method`) REQUIRE n.`year` IS :: INTEGER;

// Hardware
CREATE INDEX `index.Hardware.name` IF NOT EXISTS FOR (n:`Hardware`) ON (n.`name`);
CREATE CONSTRAINT `exists.Hardware.name` IF NOT EXISTS FOR (n:`Hardware`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Hardware.name` IF NOT EXISTS FOR (n:`Hardware`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.Hardware.memory` IF NOT EXISTS FOR (n:`Hardware`) REQUIRE n.`memory` IS :: FLOAT;
CREATE CONSTRAINT `type.Hardware.released` IF NOT EXISTS FOR (n:`Hardware`) REQUIRE n.`released` IS :: DATE;

// License
CREATE INDEX `index.License.name` IF NOT EXISTS FOR (n:`License`) ON (n.`name`);
CREATE CONSTRAINT `exists.License.name` IF NOT EXISTS FOR (n:`License`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.License.name` IF NOT EXISTS FOR (n:`License`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.License.url` IF NOT EXISTS FOR (n:`License`) REQUIRE n.`url` IS :: STRING;
CREATE CONSTRAINT `type.License.commercial_use` IF NOT EXISTS FOR (n:`License`) REQUIRE n.`commercial_use` IS :: BOOLEAN;

// superior_to
CREATE CONSTRAINT `type.superior_to.benchmark` IF NOT EXISTS FOR ()-[r:`superior_to`]-() REQUIRE r.`benchmark` IS :: STRING;
CREATE CONSTRAINT `type.superior_to.score_delta` IF NOT EXISTS FOR ()-[r:`superior_to`]-() REQUIRE r.`score_delta` IS :: FLOAT;

// evaluated_on
CREATE CONSTRAINT `type.evaluated_on.score` IF NOT EXISTS FOR ()-[r:`evaluated_on`]-() REQUIRE r.`score` IS :: FLOAT;

// trained_on
CREATE CONSTRAINT `type.trained_on.tokens` IF NOT EXISTS FOR ()-[r:`trained_on`]-() REQUIRE r.`tokens` IS :: INTEGER;
