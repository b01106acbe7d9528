// The ontology library 2.1.0-rc.1+b41c557f, for Neo4j Enterprise.
// A node has the labels of its type and of all that it is.

// Identified
CREATE CONSTRAINT `unique.Identified.shelf_mark` IF NOT EXISTS FOR (n:`Identified`) REQUIRE n.`shelf_mark` IS UNIQUE;
CREATE INDEX `index.Identified.name` IF NOT EXISTS FOR (n:`Identified`) ON (n.`name`);
CREATE CONSTRAINT `exists.Identified.name` IF NOT EXISTS FOR (n:`Identified`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Identified.name` IF NOT EXISTS FOR (n:`Identified`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.Identified.shelf_mark` IF NOT EXISTS FOR (n:`Identified`) REQUIRE n.`shelf_mark` IS :: STRING;

// Priced
CREATE INDEX `index.Priced.name` IF NOT EXISTS FOR (n:`Priced`) ON (n.`name`);
CREATE CONSTRAINT `exists.Priced.name` IF NOT EXISTS FOR (n:`Priced`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Priced.name` IF NOT EXISTS FOR (n:`Priced`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.Priced.price` IF NOT EXISTS FOR (n:`Priced`) REQUIRE n.`price` IS :: FLOAT;

// Work
CREATE INDEX `index.Work.name` IF NOT EXISTS FOR (n:`Work`) ON (n.`name`);
CREATE CONSTRAINT `exists.Work.name` IF NOT EXISTS FOR (n:`Work`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Work.name` IF NOT EXISTS FOR (n:`Work`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.Work.created` IF NOT EXISTS FOR (n:`Work`) REQUIRE n.`created` IS :: DATE;
CREATE CONSTRAINT `type.Work.rating` IF NOT EXISTS FOR (n:`Work`) REQUIRE n.`rating` IS :: FLOAT;
CREATE CONSTRAINT `type.Work.subjects` IF NOT EXISTS FOR (n:`Work`) REQUIRE n.`subjects` IS :: LIST<STRING NOT NULL>;
CREATE CONSTRAINT `type.Work.language` IF NOT EXISTS FOR (n:`Work`) REQUIRE n.`language` IS :: LIST<STRING NOT NULL>;
CREATE CONSTRAINT `exists.Work.extent.pages` IF NOT EXISTS FOR (n:`Work`) REQUIRE n.`extent.pages` IS NOT NULL;
CREATE CONSTRAINT `type.Work.extent.pages` IF NOT EXISTS FOR (n:`Work`) REQUIRE n.`extent.pages` IS :: INTEGER;
CREATE CONSTRAINT `type.Work.extent.weight` IF NOT EXISTS FOR (n:`Work`) REQUIRE n.`extent.weight` IS :: FLOAT;
CREATE CONSTRAINT `type.Work.extent.bound` IF NOT EXISTS FOR (n:`Work`) REQUIRE n.`extent.bound` IS :: BOOLEAN;

// Book
CREATE CONSTRAINT `unique.Book.isbn` IF NOT EXISTS FOR (n:`Book`) REQUIRE n.`isbn` IS UNIQUE;
CREATE CONSTRAINT `unique.Book.publisher+edition` IF NOT EXISTS FOR (n:`Book`) REQUIRE (n.`publisher`, n.`edition`) IS UNIQUE;
CREATE INDEX `index.Book.name` IF NOT EXISTS FOR (n:`Book`) ON (n.`name`);
CREATE CONSTRAINT `exists.Book.isbn` IF NOT EXISTS FOR (n:`Book`) REQUIRE n.`isbn` IS NOT NULL;
CREATE CONSTRAINT `type.Book.isbn` IF NOT EXISTS FOR (n:`Book`) REQUIRE n.`isbn` IS :: STRING;
CREATE CONSTRAINT `type.Book.publisher` IF NOT EXISTS FOR (n:`Book`) REQUIRE n.`publisher` IS :: STRING;
CREATE CONSTRAINT `type.Book.edition` IF NOT EXISTS FOR (n:`Book`) REQUIRE n.`edition` IS :: INTEGER;
CREATE CONSTRAINT `type.Book.class` IF NOT EXISTS FOR (n:`Book`) REQUIRE n.`class` IS :: STRING;
CREATE CONSTRAINT `type.Book.id` IF NOT EXISTS FOR (n:`Book`) REQUIRE n.`id` IS :: INTEGER;
CREATE CONSTRAINT `type.Book.homepage` IF NOT EXISTS FOR (n:`Book`) REQUIRE n.`homepage` IS :: STRING;
CREATE CONSTRAINT `type.Book.abstract` IF NOT EXISTS FOR (n:`Book`) REQUIRE n.`abstract` IS :: STRING;
CREATE CONSTRAINT `type.Book.lent_at` IF NOT EXISTS FOR (n:`Book`) REQUIRE n.`lent_at` IS :: ZONED DATETIME;

// Film
CREATE INDEX `index.Film.name` IF NOT EXISTS FOR (n:`Film`) ON (n.`name`);
CREATE CONSTRAINT `exists.Film.created` IF NOT EXISTS FOR (n:`Film`) REQUIRE n.`created` IS NOT NULL;
CREATE CONSTRAINT `type.Film.minutes` IF NOT EXISTS FOR (n:`Film`) REQUIRE n.`minutes` IS :: LIST<INTEGER NOT NULL>;

// Scroll
CREATE INDEX `index.Scroll.name` IF NOT EXISTS FOR (n:`Scroll`) ON (n.`name`);
CREATE CONSTRAINT `exists.Scroll.name` IF NOT EXISTS FOR (n:`Scroll`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Scroll.name` IF NOT EXISTS FOR (n:`Scroll`) REQUIRE n.`name` IS :: STRING;

// Reader
CREATE CONSTRAINT `unique.Reader.card` IF NOT EXISTS FOR (n:`Reader`) REQUIRE n.`card` IS UNIQUE;
CREATE INDEX `index.Reader.name` IF NOT EXISTS FOR (n:`Reader`) ON (n.`name`);
CREATE CONSTRAINT `exists.Reader.name` IF NOT EXISTS FOR (n:`Reader`) REQUIRE n.`name` IS NOT NULL;
CREATE CONSTRAINT `type.Reader.name` IF NOT EXISTS FOR (n:`Reader`) REQUIRE n.`name` IS :: STRING;
CREATE CONSTRAINT `type.Reader.card` IF NOT EXISTS FOR (n:`Reader`) REQUIRE n.`card` IS :: INTEGER;

// lent_to
CREATE CONSTRAINT `exists.lent_to.since` IF NOT EXISTS FOR ()-[r:`lent_to`]-() REQUIRE r.`since` IS NOT NULL;
CREATE CONSTRAINT `type.lent_to.since` IF NOT EXISTS FOR ()-[r:`lent_to`]-() REQUIRE r.`since` IS :: DATE;
CREATE CONSTRAINT `type.lent_to.until` IF NOT EXISTS FOR ()-[r:`lent_to`]-() REQUIRE r.`until` IS :: ZONED DATETIME;
CREATE CONSTRAINT `type.lent_to.notes` IF NOT EXISTS FOR ()-[r:`lent_to`]-() REQUIRE r.`notes` IS :: LIST<STRING NOT NULL>;
CREATE CONSTRAINT `type.lent_to.vouched_by` IF NOT EXISTS FOR ()-[r:`lent_to`]-() REQUIRE r.`vouched_by` IS :: STRING;
CREATE CONSTRAINT `type.lent_to.condition` IF NOT EXISTS FOR ()-[r:`lent_to`]-() REQUIRE r.`condition` IS :: STRING;
