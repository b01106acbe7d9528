-- Models that were trained with a method, and the best of what they scored on a benchmark.
-- param method: Model.training_method = 'DPO'
-- param benchmark: string = 'MMLU'
-- param least: number? = NULL
SELECT m.name, max(e.score) AS score
FROM Model m JOIN evaluated_on e ON e._subject_id = m._id
WHERE m.training_method = $method AND e.object = $benchmark
GROUP BY m.name
HAVING $least IS NULL OR max(e.score) >= $least
ORDER BY score DESC
